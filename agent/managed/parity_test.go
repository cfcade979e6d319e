//go:build !race

package managed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/agent/provider/wiretest"
	"github.com/voicegw/voicegw/journal/journaltest"
	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// faked opens a model of a provider whose server, in the bubble of the test, answers with turns.
func faked(t *testing.T, name string, turns ...wiretest.Turn) (model.LLM, *wiretest.Server) {
	t.Helper()
	network, fake := wstest.New(), wiretest.New(name, turns...)
	server, transport := &http.Server{Handler: fake}, &http.Transport{DialContext: network.Dial}
	go func() { _ = server.Serve(network) }()
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	url := "http://fake.test"
	if name == provider.OpenAI || name == provider.Compatible {
		url += "/v1"
	}
	r, err := provider.Config{Keys: map[string]string{name: wiretest.Key}, BaseURLs: map[string]string{name: url},
		Client: &http.Client{Transport: transport}}.Resolver()
	if err != nil {
		t.Fatal(err)
	}
	llm, err := r.Open(provider.Ref{Provider: name, Model: "m-1"})
	if err != nil {
		t.Fatal(err)
	}
	return llm, fake
}

// parityTurns are fixture F-8 for the wire servers. Each provider counts its tokens in its own way, so all
// get the same.
func parityTurns(f *fixture, id string) []wiretest.Turn {
	call := f.Model.Turns[0].Calls[0]
	args, err := json.Marshal(call.Input)
	if err != nil {
		panic(err)
	}
	cost := wiretest.Usage{Prompt: 5, Output: 2}
	return []wiretest.Turn{
		{Calls: []wiretest.Call{{ID: id, Name: call.Name, Args: string(args)}}, Usage: cost},
		{Text: f.Model.Turns[1].Text, Usage: cost},
	}
}

// parityCase is what servers do, and what the session then tells.
type parityCase struct {
	name   string
	change func(turns []wiretest.Turn) []wiretest.Turn
	tells  string // "" if as without a fault
	stream string // in a stream, if it is another
	compat string
}

const (
	parityTells = `mes, running, mes', use web_search, done, "I found it.", idle end_turn`
	parityTwo   = `mes, running, mes', use web_search, use web_search, done, done, "I found it.", idle end_turn`
	parityEmpty = `mes, running, mes', error retrying, rescheduled, running, use web_search, done, "I found it.", ` +
		`idle end_turn`
	parityGone = `mes, running, mes', error retrying, rescheduled, running, error retrying, rescheduled, running, ` +
		`error retrying, rescheduled, running, error exhausted, idle retries_exhausted`
	parityRetry = `mes, running, mes', use web_search, done, error retrying, rescheduled, running, "I found it.", ` +
		`idle end_turn`
)

func parityCases() []parityCase {
	before := func(t wiretest.Turn) func([]wiretest.Turn) []wiretest.Turn {
		return func(turns []wiretest.Turn) []wiretest.Turn { return slices.Insert(turns, 0, t) }
	}
	faulty := func(i int, f wiretest.Fault) func([]wiretest.Turn) []wiretest.Turn {
		return func(turns []wiretest.Turn) []wiretest.Turn {
			bad := turns[i]
			bad.Fault = f
			return slices.Insert(turns, i, bad)
		}
	}
	return []parityCase{
		{name: "no fault", change: func(t []wiretest.Turn) []wiretest.Turn { return t }},
		{name: "429 with a time", change: before(wiretest.Turn{Status: 429, Header: wiretest.RetryAfter(7 * time.Second)})},
		{name: "503", change: before(wiretest.Turn{Status: 503})},
		{name: "529", change: before(wiretest.Turn{Status: 529})},
		{name: "split arguments that are cut off", change: faulty(0, wiretest.BrokenArgs)},
		{name: "cut in the call", change: faulty(0, wiretest.Cut)},
		{name: "cut in the text", change: faulty(1, wiretest.Cut), stream: parityRetry},
		{name: "malformed frame in the text", change: faulty(1, wiretest.Broken), stream: parityRetry},
		{name: "no terminator behind the text", change: faulty(1, wiretest.Unended), stream: parityRetry},
		{name: "unknown frames", change: func(t []wiretest.Turn) []wiretest.Turn {
			t[1].Fault = wiretest.Unknown
			return t
		}},
		{name: "no ids", change: func(t []wiretest.Turn) []wiretest.Turn {
			t[0].Calls[0].ID = ""
			return t
		}},
		{name: "empty answer", change: before(wiretest.Turn{Usage: wiretest.Usage{Prompt: 5}}), tells: parityEmpty,
			compat: "r t m i"},
		{name: "empty answers for ever", tells: parityGone, compat: "r e i", change: func([]wiretest.Turn) []wiretest.Turn {
			return []wiretest.Turn{{Usage: wiretest.Usage{Prompt: 5}}}
		}},
		{name: "parallel calls", compat: "r t t m i", tells: parityTwo, change: func(t []wiretest.Turn) []wiretest.Turn {
			second := t[0].Calls[0]
			second.ID = "tu_search_002"
			t[0].Calls = append(t[0].Calls, second)
			return t
		}},
		{name: "parallel calls with one id", compat: "r t t m i", tells: parityTwo,
			change: func(t []wiretest.Turn) []wiretest.Turn {
				t[0].Calls = append(t[0].Calls, t[0].Calls[0])
				return t
			}},
	}
}

// normalised are the events of a session as bytes, without what no two sessions share.
func (h *house) normalised() string {
	h.Helper()
	var lines []string
	for _, ev := range h.events() {
		if ev.ProcessedAt != nil {
			ev.ProcessedAt = &time.Time{}
		}
		if ev.Usage != nil {
			ev.Usage.Active = 0
		}
		if ev.Error != nil {
			ev.Error.Message = ""
		}
		b, err := json.Marshal(ev)
		if err != nil {
			h.Fatal(err)
		}
		lines = append(lines, strings.ReplaceAll(string(b), strings.TrimPrefix(h.session, sessionPrefix), "S"))
	}
	for _, ev := range h.compat() {
		b, err := json.Marshal(ev)
		if err != nil {
			h.Fatal(err)
		}
		lines = append(lines, string(b))
	}
	return strings.Join(lines, "\n")
}

// TestF8Parity: the servers of five providers, with and without streams and with faults, lead to the same events,
// byte for byte.
func TestF8Parity(t *testing.T) {
	f := loadFixture(t, "f8_parity")
	for _, c := range parityCases() {
		for _, whole := range []bool{false, true} {
			want, first := "", ""
			for _, info := range provider.Providers() {
				t.Run(fmt.Sprintf("%s/whole=%v/%s", c.name, whole, info.Name), func(t *testing.T) {
					in(t, func(t *testing.T) {
						got := c.play(t, f, info.Name, whole)
						if want == "" {
							want, first = got, info.Name
						}
						if got != want {
							t.Errorf("the events of %s are\n%s\nthose of %s are\n%s", info.Name, got, first, want)
						}
					})
				})
			}
		}
	}
}

// play plays the fixture with a provider and returns its events.
func (c *parityCase) play(t *testing.T, f *fixture, name string, whole bool) string {
	ran := map[string]int{}
	llm, fake := faked(t, name, c.change(parityTurns(f, "tu_search_001"))...)
	h := newHouseOn(t, journaltest.NewMemory(), f.Agent, llm, fixtureTools(ran)...)
	defer func() { h.close() }()
	h.cfg.Whole = whole
	h.restart()
	h.send(f.Scenario[0].Send...)
	time.Sleep(time.Minute)
	synctest.Wait()
	want, letters := parityTells, "r t m i"
	switch {
	case c.stream != "" && !whole:
		want = c.stream
	case c.tells != "":
		want, letters = c.tells, c.compat
	}
	h.tells(want)
	if got := short(h.compat()); got != letters {
		t.Errorf("the other profile tells %s, want %s", got, letters)
	}
	if n := strings.Count(want, "use "); total(ran) != n {
		t.Errorf("the tool ran %v, want %d times", ran, n)
	}
	for _, r := range fake.Requests() {
		if r.Stream == whole {
			t.Errorf("the server was asked for a stream: %v", r.Stream)
		}
	}
	if c.name == "no fault" {
		f.judge(h)
	}
	return h.normalised()
}
