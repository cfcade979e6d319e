package simulate

import (
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/live/sim"
)

// toolScenario makes a model call functions. It is sound otherwise.
func toolScenario(c chance, p *callPlan) bool {
	var b strings.Builder
	for n := range 1 + c.IntN(3) {
		cue := pick(c, fmt.Sprintf("turn %d", n+1), fmt.Sprintf("chunk 2 of reply %d", n+1), fmt.Sprintf("text %d", n+1))
		fmt.Fprintf(&b, "on %s: call %s\n", cue, pick(c, "weather", "get_time", "book", "search"))
	}
	p.script = b.String()
	s, err := sim.ParseScenario("calls", p.script)
	return follow(p, s, err)
}

// serverFaults gives a model a few faults of its server at once.
func serverFaults(c chance, p *callPlan) bool {
	few := func(most int) int {
		if c.oneIn(3) {
			return 1 + c.IntN(most)
		}
		return 0
	}
	f := &p.model.Faults
	*f = sim.Faults{Connections: few(3), GarbageAfterChunks: few(5), LateAudioChunks: few(9), PhantomAfterChunks: few(5),
		EmptyTurns: few(3), AudioWithInterrupted: c.oneIn(4), NoTurnComplete: c.oneIn(8), NeverResumable: c.oneIn(4),
		UnknownFields: c.oneIn(4), FreezeAfterInterrupted: c.oneIn(10)}
	switch c.IntN(8) {
	case 0:
		f.DropTCPAfterChunks = 1 + c.IntN(8)
	case 1:
		f.StallWritesAfterChunks = 1 + c.IntN(8)
	case 2:
		f.FreezeAfterChunks = 1 + c.IntN(8)
	case 3:
		f.StallReadsAfterMessages = 1 + c.IntN(100)
	case 4:
		f.GoAwayAt, f.GoAwayTimeLeft = c.between(time.Second, 9*time.Second), c.between(0, 5*time.Second)
	case 5:
		f.CloseAt = &sim.CloseAt{Messages: c.IntN(60), Code: pick(c, 1000, 1007, 1008, 1011), Reason: "made up"}
	}
	p.script = fmt.Sprintf("%+v", *f)
	return true
}

// randomScenario makes a model follow a scenario that is made up in the language of live/sim. Some
// of what is made up makes no sense and is made up again.
func randomScenario(c chance, p *callPlan) bool {
	for p.model.Scenario == nil {
		p.script = scenarioText(c)
		p.model.Scenario, _ = sim.ParseScenario("made up", p.script)
	}
	return true
}

func scenarioText(c chance) string {
	var b strings.Builder
	for range c.IntN(3) {
		fmt.Fprintln(&b, scenarioSetting(c))
	}
	if c.oneIn(2) {
		fmt.Fprintln(&b, "connection", pick(c, "1", "1", "1-2", "2-", "2"))
	}
	for range 1 + c.IntN(4) {
		fmt.Fprintf(&b, "on %s: %s\n", scenarioCue(c), scenarioAction(c))
	}
	return b.String()
}

func scenarioSetting(c chance) string {
	return pick(c, "speed 0.5", "speed 50", "latency 1500ms", "latency 5s", "chunks 5ms", "chunks 400ms 1s", "pongs never",
		"frames 64", "transcripts missing", "transcripts late 700ms", "transcripts at_once", "turn_complete never",
		"turn_complete not_after_interrupted", "interrupted with_audio", "handles never", "handles forgotten", "tools wedge",
		"short 600ms")
}

func scenarioCue(c chance) string {
	n := 1 + c.IntN(4)
	cue := pick(c, "setup", "ready", "resume", fmt.Sprintf("message %d", 20*n), fmt.Sprintf("turn %d", n), "turn",
		fmt.Sprintf("start %d", n), fmt.Sprintf("reply %d", n), fmt.Sprintf("chunk %d", n),
		fmt.Sprintf("chunk %d of reply %d", n, n),
		fmt.Sprintf("generated %d", n), fmt.Sprintf("interrupted %d", n), "interrupted", fmt.Sprintf("turn_complete %d", n),
		fmt.Sprintf("call %d", n), fmt.Sprintf("tool_reply %d", n), "text", fmt.Sprintf("text %d", n), "audio_in_call 5")
	if c.oneIn(4) {
		cue += fmt.Sprintf(" +%dms", c.IntN(3000))
	}
	return cue
}

func scenarioAction(c chance) string {
	name := pick(c, "weather", "get_time", "book", "search", "nothing_of_that_name")
	return pick(c, "close 1011 Internal error encountered.", "close 1008 no", "close 1007 no", "close 1000", "drop",
		"go_away 3s", "go_away 200ms", "go_away 0s silent", "freeze", "stall", "deaf", "ignore", "empty",
		"drop", "say 900ms", "say 2s \"so\"",
		"repeat", "cut", "hold 1s", "hold 9s", "send {", `send {"serverContent":{"interrupted":true}}`,
		`send {"serverContent":{"turnComplete":true}}`, `send {"serverContent":{"generationComplete":true}}`,
		`send {"goAway":{"timeLeft":"-3s"}}`, "audio 400ms", "audio 200ms 8000", "audio 100ms 12", "audio 3s", "pad 5242880",
		"call "+name, "call "+name, `call `+name+` {"a":1}`, "calls 3 "+name, "storm 9 "+name, "cancel",
		"cancel last", "forget")
}
