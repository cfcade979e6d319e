package sim

import (
	"strings"
	"testing"
	"time"
)

// FuzzPlay has a short conversation with whatever a scenario makes of the model: it ends, and no
// message is without bounds.
func FuzzPlay(f *testing.F) {
	for _, name := range Scenarios() {
		text, err := scenarioFiles.ReadFile("scenarios/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("on call: call f\non text: storm 200 f\ntools wedge\non chunk +1ns: cancel last\non message: hold 1h")
	f.Add("on turn_complete: say 0s\non interrupted: repeat\non reply: cut\non start: send {\nspeed 1000\nchunks 1ms")
	script := []step{
		{0, `{"setup":{"model":"models/parrot","sessionResumption":{},"outputAudioTranscription":{},` +
			`"inputAudioTranscription":{},"tools":[{"functionDeclarations":[{"name":"f","behavior":"NON_BLOCKING"}]}],` +
			`"realtimeInputConfig":{"automaticActivityDetection":{"disabled":true}}}}`},
		{time.Second, `{"realtimeInput":{"text":"Hi."}}`},
		{time.Second, `{"toolResponse":{"functionResponses":[{"id":"call-1-1","response":{"output":1}}]}}`},
		{1100 * time.Millisecond, `{"realtimeInput":{"activityStart":{}}}`},
		{1200 * time.Millisecond, audioMessage(make([]int16, 3200))},
		{1300 * time.Millisecond, `{"realtimeInput":{"activityEnd":{}}}`},
		{1400 * time.Millisecond, `{"clientContent":{"turnComplete":true}}`},
	}
	f.Fuzz(func(t *testing.T, text string) {
		scenario, err := ParseScenario("fuzz", text)
		if err != nil || strings.Contains(text, "pad") || strings.Contains(text, "say") && strings.Contains(text, "m") {
			return
		}
		m := newMachine(t, Config{Scenario: scenario, Greeting: make([]int16, 2400)}, 1)
		play(t, m, script)
	})
}

// play has a conversation of half a minute, and wants it to end.
func play(t *testing.T, m *machine, script []step) {
	const most = 60000
	messages := 0
	take := func() {
		messages += len(m.out)
		m.out = m.out[:0]
	}
	for _, s := range append(script, step{at: 30 * time.Second}) {
		for m.wake() < s.at && m.end == nil {
			m.advance(m.wake())
			take()
			if messages > most {
				t.Fatalf("%d messages", messages)
			}
		}
		if s.data == "" || m.end != nil {
			return
		}
		m.receive(s.at, []byte(s.data))
		take()
	}
}
