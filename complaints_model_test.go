//go:build !race

package voicegw_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// unnoticed are the scenarios of which a caller hears nothing: every turn is answered on the first
// connection, in time, with the caller's own words, whole.
func unnoticed() []string {
	return []string{"sound", "slow-pongs", "no-pongs", "goaway-plenty", "interrupted-manual", "interrupted-pair",
		"interrupted-no-turn-complete", "late-audio", "no-turn-complete", "duplicate-turn-complete", "audio-fast",
		"audio-tiny", "audio-chunks", "audio-empty", "transcripts-at-once", "transcripts-finished", "transcripts-late",
		"transcripts-missing", "transcripts-unfinished", "message-unknown", "message-broken", "message-negative-times",
		"message-split", "stray-model-turn"}
}

// TestComplaintNoticed talks three times to a model that misbehaves in ways which nobody should
// hear.
func TestComplaintNoticed(t *testing.T) {
	for _, name := range unnoticed() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := sim.LoadScenario(name)
			if err != nil {
				t.Fatal(err)
			}
			pl := plan{gw: voicegw.Config{Tools: []voicegw.Tool{weather()}}, model: sim.Config{Scenario: s}}
			inBubble(t, pl, func(w *world) {
				p := w.call(hello(), manner{})
				for _, words := range []string{"question", "hello", "german"} {
					h := p.answered(words, 2*time.Second)
					p.turn(transport.StateEnd)
					p.hears(h.Generation, speech(words, 24000))
					if got, want := len(p.sound(h.Generation)), len(speech(words, 24000)); got > want+24000/2 {
						t.Errorf("%q was answered by %d samples, want %d", words, got, want)
					}
				}
				time.Sleep(3 * time.Second)
				if n := len(p.starts()); n != 3 {
					t.Errorf("%d replies were heard, want 3\n%s", n, p.story())
				}
			})
		})
	}
}

// weather is the tool of the scenarios.
func weather() voicegw.Tool {
	return voicegw.Tool{Name: "weather", Description: "tells the weather",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(`{"sky":"blue"}`), nil
		}}
}

// TestComplaintHalfOpen is silent for five minutes beside a connection on which nothing comes
// either. One that answers pings, however late, is kept; one that does not is replaced within a
// minute, and the next turn is answered.
func TestComplaintHalfOpen(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		conns  int
	}{
		"googleapis/python-genai#2935":    {"pongs 20s", 1},
		"pathorsAI/parley#362":            {"connection 1\non ready +5s: stall", 2},
		"autonomous-ai/autonomous-os#231": {"connection 1\non ready +5s: drop", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, plan{model: sim.Config{Scenario: scenario(t, c.script)}}, func(w *world) {
				p := w.call(hello(), manner{})
				time.Sleep(5 * time.Minute)
				if n := len(w.model.Connections()); n != c.conns {
					t.Errorf("%d connections, want %d", n, c.conns)
				}
				h := p.answered("hello", 2*time.Second)
				p.ended(transport.TurnComplete)
				p.hears(h.Generation, speech("hello", 24000))
			})
		})
	}
}

// TestComplaintBadInput gets what no model should send. Each is an event of the log with a name,
// none of them quotes what was said, and the call goes on.
func TestComplaintBadInput(t *testing.T) {
	const (
		misread = "unknown message of the model"
		again   = "the model reused the id of an open tool call"
		chunk   = "on chunk 2 of reply 1: "
	)
	pcm := func(data string) string {
		return chunk + `send {"serverContent":{"modelTurn":{"parts":[{"inlineData":` +
			`{"mimeType":"audio/pcm;rate=24000","data":"` + data + `"}}]}}}`
	}
	call := `on turn 1: send {"toolCall":{"functionCalls":[{"id":"a","name":"look_up","args":{}}]}}` + "\n"
	for name, c := range map[string]struct{ script, want string }{
		"malformed JSON":      {chunk + `send {"serverContent":{"modelTurn":`, misread},
		"another shape":       {chunk + `send {"serverContent":{"turnComplete":"true"}}`, misread},
		"unknown message":     {chunk + `send {"fancyNewThing":{"on":true}}`, misread},
		"negative time":       {chunk + `send {"goAway":{"timeLeft":"-5s"}}`, "the model announced the end"},
		"a rate of 1 Hz":      {chunk + "audio 100ms 1", ""},
		"a rate of 192 kHz":   {chunk + "audio 100ms 192000", ""},
		"odd bytes of audio":  {pcm("AAAA"), misread},
		"no bytes of audio":   {pcm(""), ""},
		"a tool nobody has":   {"on turn 1: call hammer {}", ""},
		"a call twice":        {call + call, again},
		"a cancelled nothing": {`on turn 1: send {"toolCallCancellation":{"ids":["nothing"]}}`, ""},
		"5 MiB":               {"connection 1\non turn 1: pad 5242880", "connection to the model lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			core, logs := observer.New(zap.InfoLevel)
			pl := tooled(t, lookUp(time.Second, nil), c.script)
			pl.gw.Log = zap.New(core)
			inBubble(t, pl, func(w *world) {
				p := w.call(hello(), manner{})
				for range 2 {
					h := p.answered("hello", 6*time.Second)
					p.turn(transport.StateEnd)
					if name != "a rate of 192 kHz" {
						p.hears(h.Generation, speech("question", 24000))
					}
				}
			})
			if c.want != "" && logs.FilterMessage(c.want).Len() == 0 {
				t.Errorf("the log has no %q: %v", c.want, logs.All())
			}
		})
	}
}
