package adkagent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// toldTo returns the history that the model got over a connection.
func toldTo(c sim.Connection) (texts []string) {
	for _, t := range c.Texts {
		if t.Kind == "content" {
			texts = append(texts, t.Role+": "+t.Text)
		}
	}
	return texts
}

// remember stores what was said in a session before.
func (w *liveWorld) remember(id string) {
	w.t.Helper()
	ctx := context.Background()
	resp, err := w.sessions.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "user", SessionID: id})
	if err != nil {
		w.t.Fatal(err)
	}
	for i, c := range []*genai.Content{genai.NewContentFromText("I am Ada.", "user"),
		genai.NewContentFromText("Hello Ada.", "model")} {
		ev := session.NewEvent(ctx, "before")
		ev.Author, ev.Content = []string{"user", "speaker"}[i], c
		if err := w.sessions.AppendEvent(ctx, resp.Session, ev); err != nil {
			w.t.Fatal(err)
		}
	}
}

var before = []string{"user: I am Ada.", "model: Hello Ada."}

// TestLiveHistory begins with what the session remembers. A connection that resumes gets nothing
// twice.
func TestLiveHistory(t *testing.T) {
	inBubble(t, livePlan{model: sim.Config{Scenario: scenario(t, "on turn_complete 1: go_away 2s")},
		run: withTranscripts()}, func(w *liveWorld) {
		w.remember("s")
		k := w.open(context.Background(), "s", nil)
		for range 2 { // two replies, and so three connections
			n := len(w.model.Connections())
			k.send(typed("What is my name?"))
			for range 20 {
				time.Sleep(time.Second)
			}
			if m := len(w.model.Connections()); m != n+1 && n > 0 {
				t.Errorf("%d connections after %d", m, n)
			}
		}
		k.hangUp()
		all := w.model.Connections()
		if len(all) != 3 || !slices.Equal(toldTo(all[0]), before) {
			t.Fatalf("%d connections; the first was told %q", len(all), toldTo(all[0]))
		}
		for _, c := range all[1:] {
			if c.Handle == "" || len(toldTo(c)) > 0 {
				t.Errorf("connection %d has the handle %q and was told %q", c.ID, c.Handle, toldTo(c))
			}
		}
		lost := slices.ContainsFunc(k.all(), func(ev *session.Event) bool { return ev.ErrorCode != "" || ev.Interrupted })
		if lost || len(k.errs) > 0 {
			t.Errorf("the application noticed: %s, %v", eventLines(k.all()), k.errs)
		}
	})
}

// TestLiveHistoryAnew tells a connection that cannot resume the session and the call so far.
func TestLiveHistoryAnew(t *testing.T) {
	inBubble(t, livePlan{model: sim.Config{GreetingText: "Ada.", Faults: sim.Faults{NeverResumable: true},
		Scenario: scenario(t, "connection 1\non turn_complete 1 +1s: drop")}, run: withTranscripts()}, func(w *liveWorld) {
		w.remember("s")
		k := w.open(context.Background(), "s", nil)
		k.send(typed("What is my name?"))
		k.until("the model is back", func(ev *session.Event) bool {
			return strings.HasSuffix(eventLine(ev), "note:model back")
		})
		k.hangUp()
		all := w.model.Connections()
		if len(all) != 2 || len(toldTo(all[1])) <= len(before) || !slices.Equal(toldTo(all[1])[:2], before) {
			t.Errorf("%d connections; the second was told %q", len(all), toldTo(all[len(all)-1]))
		}
	})
}

// TestLiveReconnectsAreBounded loses every connection at once. ADK's flow dials thousands of times a
// second.
func TestLiveReconnectsAreBounded(t *testing.T) {
	inBubble(t, livePlan{model: sim.Config{Scenario: scenario(t, "on ready: drop")}, run: withTranscripts()},
		func(w *liveWorld) {
			began := time.Now()
			k := w.open(context.Background(), "s", nil)
			<-k.done
			n, took := len(w.model.Connections()), time.Since(began)
			t.Logf("%d dials in %v: %v", n, took, k.errs)
			if n < 2 || n > 12 || took > 2*time.Minute || len(k.errs) != 1 {
				t.Errorf("%d dials in %v, errors %v", n, took, k.errs)
			}
			var ce *live.CloseError
			last := k.all()[len(k.all())-1]
			if !errors.As(k.errs[0], &ce) || last.ErrorCode != "model_lost" {
				t.Errorf("%v, %s", k.errs[0], eventLines(k.all()))
			}
		})
}

// TestLiveHandle begins anew if the model has forgotten the handle of the application.
func TestLiveHandle(t *testing.T) {
	run := withTranscripts()
	run.SessionResumption = &genai.SessionResumptionConfig{Handle: "h-unknown"}
	inBubble(t, livePlan{run: run}, func(w *liveWorld) {
		w.remember("s")
		k := w.open(context.Background(), "s", nil)
		k.send(typed("What is my name?"))
		k.until("the end of the turn", turnEnded)
		k.hangUp()
		all := w.model.Connections()
		last := all[len(all)-1]
		if all[0].Handle != "h-unknown" || len(toldTo(all[0])) > 0 || len(all) != 2 || last.Handle != "" ||
			!slices.Equal(toldTo(last), before) {
			t.Errorf("%d connections; handles %q and %q; told %q and %q", len(all), all[0].Handle, last.Handle, toldTo(all[0]),
				toldTo(last))
		}
	})
}

// dials notes setups and opens nothing.
type dials struct {
	setups []live.Setup
	errs   []error // of the next dials
}

func (d *dials) Dial(_ context.Context, s live.Setup) (live.Conn, error) {
	d.setups = append(d.setups, s)
	if len(d.errs) == 0 {
		return nil, nil
	}
	err := d.errs[0]
	d.errs = d.errs[1:]
	return nil, err
}

// TestRecallingDialer tells each connection what it must know, and no more.
func TestRecallingDialer(t *testing.T) {
	turn := func(s string) []live.Turn { return []live.Turn{{Role: "user", Text: s}} }
	lost := &live.CloseError{Class: live.ClassNetwork}
	gone := &live.CloseError{Class: live.ClassHandle}
	tests := []struct {
		name, handle string
		errs         []error
		dials        []live.Setup // by the gateway
		want         string       // handle/history of each dial
	}{
		{"the first is told", "", nil, []live.Setup{{}}, "/old"},
		{"until one is up", "", []error{lost}, []live.Setup{{}, {}, {}}, "/old /old /"},
		{"a resumed one is not", "", nil, []live.Setup{{}, {Handle: "h"}}, "/old h/"},
		{"a new one is, with the call", "", nil, []live.Setup{{}, {History: turn("new")}}, "/old /old,new"},
		{"one that must be told nothing is not", "", nil, []live.Setup{{}, {}}, "/old /"},
		{"a handle knows it", "mine", nil, []live.Setup{{}, {Handle: "h"}}, "mine/ h/"},
		{"a handle is tried again", "mine", []error{lost}, []live.Setup{{}, {}}, "mine/ mine/"},
		{"a handle that is forgotten", "mine", []error{gone}, []live.Setup{{}, {}}, "mine/ /old /"},
	}
	for _, tt := range tests {
		under := &dials{errs: tt.errs}
		d := &recallingDialer{Dialer: under, handle: tt.handle, history: turn("old")}
		for _, s := range tt.dials {
			_, _ = d.Dial(context.Background(), s)
		}
		var got []string
		for _, s := range under.setups {
			var texts []string
			for _, turn := range s.History {
				texts = append(texts, turn.Text)
			}
			got = append(got, s.Handle+"/"+strings.Join(texts, ","))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, s, tt.want)
		}
	}
}

// TestLatest keeps the end of a long history.
func TestLatest(t *testing.T) {
	long := strings.Repeat("é", historyBytesMax/4)
	turns := []live.Turn{{Role: "user", Text: "first"}, {Role: "model", Text: long}, {Role: "user", Text: long + "z"}}
	got := latestTurns(turns)
	if n := len(got[0].Text) + len(got[1].Text); len(got) != 2 || n > historyBytesMax || n < historyBytesMax-2 ||
		got[1].Text != long+"z" {
		t.Errorf("%d turns", len(got))
	}
}

// TestLiveContextEnds ends the call when the invocation is cancelled.
func TestLiveContextEnds(t *testing.T) {
	inBubble(t, livePlan{run: withTranscripts()}, func(w *liveWorld) {
		ctx, cancel := context.WithCancel(context.Background())
		k := w.open(ctx, "s", nil)
		k.send(typed("Hello."))
		k.until("audio", func(ev *session.Event) bool { return inline(ev) != nil })
		cancel()
		<-k.done
		if len(k.errs) != 1 || !errors.Is(k.errs[0], context.Canceled) {
			t.Errorf("the errors are %v", k.errs)
		}
	})
}
