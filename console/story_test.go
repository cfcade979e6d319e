package console

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// kept is an archive in memory.
type kept struct{ bytes.Buffer }

func (*kept) Close() error { return nil }

// misbehaved is a call with a model that misbehaves as a scenario says, and its archive.
func misbehaved(t *testing.T, scenario string) (file []byte, prog *petri.Program) {
	t.Helper()
	misbehaves, err := sim.ParseScenario("story", scenario)
	if err != nil {
		t.Fatal(err)
	}
	archive := &kept{}
	synctest.Test(t, func(t *testing.T) {
		model, err := sim.New(sim.Config{Scenario: misbehaves})
		if err != nil {
			t.Fatal(err)
		}
		back, front := wstest.New(), wstest.New()
		defer serveOn(back, model)()
		defer func() { _ = model.Close() }()
		slow := voicegw.Tool{Name: "find_order", Description: "Finds an order.",
			Call: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
				rest(ctx, 3*time.Second)
				return json.RawMessage(`{"order": 17}`), nil
			}}
		gw, err := voicegw.New(voicegw.Config{Tools: []voicegw.Tool{slow},
			Dialer: live.Wire{BaseURL: "ws://model", HTTPClient: &http.Client{
				Transport: &http.Transport{DialContext: back.Dial, DisableKeepAlives: true}}},
			Archive: func(string) (io.WriteCloser, error) { return archive, nil },
			Hooks:   voicegw.Hooks{Running: func(s *voicegw.Session) { prog = s.Program() }}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = gw.Close() }()
		defer serveOn(front, gw)()
		cfg := wsclient.Config{URL: "ws://localhost/v1/voice", In: audiotest.Speech("question"), Quiet: 5 * time.Second}
		cfg.Hello.OutputRateHz, cfg.Dial.DialContext = 8000, front.Dial
		if _, err := wsclient.Call(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	})
	return archive.Bytes(), prog
}

func serveOn(l *wstest.Network, h http.Handler) (stop func()) {
	server := &http.Server{Handler: h}
	var running sync.WaitGroup
	running.Go(func() { _ = server.Serve(l) })
	return func() {
		_ = server.Close()
		running.Wait()
	}
}

// TestStory: a call was silent for about three seconds, because the model or a function misbehaved. Somebody who knows
// only the archive reads in the console how long it was silent, and why.
func TestStory(t *testing.T) {
	for _, c := range []struct{ name, scenario, key, says, turn string }{
		{"a slow model", "latency 3s", keyModelSlow, "sent no audio: the model was slow. Its audio came at 0:0",
			"– – 3.0 s 0.0 s 0.0 s 3.0 s 3.8 s of 3.8 s"},
		{"a reply that stops", "on chunk 4 of reply 1: hold 3s", keyStalled, "The model sent more at 0:0",
			"– – 0.0 s 0.0 s 0.0 s 0.0 s 3.8 s of 3.8 s, with 2.8 s of silence in it"},
		{"a slow function", "on turn 1: call find_order {}", keyTool, "waited for its result. The function returned at 0:0",
			"– 3.0 s 0.0 s 0.0 s 0.0 s 3.0 s 3.8 s of 3.8 s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, prog := misbehaved(t, c.scenario)
			_, b := whole(t, prog, file)
			long := Silence{}
			for _, s := range b.Silences {
				if s.Key != keyIdle && s.To-s.From > long.To-long.From {
					long = s
				}
			}
			if length := long.To - long.From; length < 2500 || length > 4000 || long.Key != c.key ||
				!strings.Contains(long.Text, c.says) || !strings.HasPrefix(long.Text, "Silence for ") {
				t.Errorf("the console says of %.0f ms of silence:\n%s", length, text(t, b.Silences))
			}
			if cells := turnRowOf(b.Turns[0]).Cells; strings.Join(cells[1:len(cells)-1], " ") != c.turn {
				t.Errorf("the report says of the turn %q", cells)
			}
		})
	}
}
