package adkagent

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/database"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/genai"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/voicegw/voicegw/live/sim"
)

// sqliteSessions is ADK's session service over a file.
func sqliteSessions(t *testing.T) (s session.Service, closeDB func()) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "sessions.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	s, err = database.NewSessionService(sqlite.Dialector{Conn: db}, &gorm.Config{Logger: logger.Discard})
	if err == nil {
		err = database.AutoMigrate(s)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, func() { _ = db.Close() }
}

// sayYes is an agent that answers every text.
func sayYes(ic adk.InvocationContext) iter.Seq2[*session.Event, error] {
	return func(yield func(*session.Event, error) bool) {
		time.Sleep(time.Millisecond) // the database sorts events by their times
		ev := session.NewEvent(ic, ic.InvocationID())
		ev.Content = genai.NewContentFromText("Yes.", genai.RoleModel)
		yield(ev, nil)
	}
}

// beside runs one turn of text beside an open live session.
func (w *liveWorld) beside(id string) {
	w.t.Helper()
	for _, err := range w.runner.Run(context.Background(), "user", id, genai.NewContentFromText("Really?", "user"),
		adk.RunConfig{}) {
		if err != nil {
			w.t.Error(err)
		}
	}
}

// besideStory speaks, runs a turn of text beside, and speaks again, with a tool.
func besideStory(t *testing.T, own func(session.Service) session.Service, check func(w *liveWorld, k *talk, ran bool)) {
	t.Helper()
	var ran atomic.Bool
	sky := weather(t, func(adk.Context, city) (map[string]any, error) {
		ran.Store(true)
		return map[string]any{"sky": "clear"}, nil
	})
	p := livePlan{model: sim.Config{GreetingText: "Hello.",
		Scenario: scenario(t, `on turn 1: call weather {"city":"Ulm"}`)}, run: withTranscripts(),
		live: LiveConfig{Run: sayYes, Tools: []tool.Tool{sky}}}
	files, closeDB := sqliteSessions(t)
	defer closeDB()
	inBubble(t, p, func(w *liveWorld) {
		w.sessions = own(files)
		w.again()
		k := w.open(context.Background(), "s", nil)
		k.send(typed("Hello."))
		k.until("the end of the turn", turnEnded)
		w.beside("s")
		time.Sleep(time.Second)
		k.say("question", time.Second)
		k.until("the second reply", func(*session.Event) bool {
			n := 0
			for _, ev := range k.all() {
				if strings.HasSuffix(eventLine(ev), "note:generation_complete") {
					n++
				}
			}
			return n == 2
		})
		time.Sleep(time.Second)
		k.hangUp()
		check(w, k, ran.Load())
	})
}

// TestLiveStale locks what happens with the bare database of ADK: after one turn of text beside, nothing
// of the live session is stored any more, and the consumer gets an error for each event. The agent is
// not told, so the tool runs.
func TestLiveStale(t *testing.T) {
	besideStory(t, func(s session.Service) session.Service { return s }, func(w *liveWorld, k *talk, ran bool) {
		stored := w.stored("s")
		last := eventLine(stored[len(stored)-1])
		if len(k.errs) < 4 || last != "speaker:Yes." || !ran {
			t.Errorf("%d errors; the tool ran: %v; stored: %s", len(k.errs), ran, eventLines(stored))
		}
		for _, err := range k.errs {
			if !strings.Contains(err.Error(), "stale session error") {
				t.Error(err)
			}
		}
	})
}

// TestLiveOwned stores everything of both.
func TestLiveOwned(t *testing.T) {
	besideStory(t, Sessions, func(w *liveWorld, k *talk, ran bool) {
		if len(k.errs) > 0 || !ran {
			t.Errorf("the tool ran: %v, the errors are %v", ran, k.errs)
		}
		checkCalls(t, w.stored("s"), 1)
		want := "user:Hello. | speaker:Hello. | speaker turn_complete note:turn | user:Really? | speaker:Yes. | " +
			"user:(2.8 s of speech) | speaker call:weather | speaker response:weather | speaker:weather: " +
			"{\"output\":{\"sky\":\"clear\"}} | speaker turn_complete note:turn"
		if got := eventLines(w.stored("s")); got != want {
			t.Errorf("stored:\n%s\nwant:\n%s", got, want)
		}
		if i := slices.IndexFunc(k.all(), func(ev *session.Event) bool { return ev.InputTranscription != nil }); i < 0 {
			t.Error("the application got no transcript")
		}
	})
}

// forgetful is a session service that stores no call of a tool.
type forgetful struct{ session.Service }

func (f forgetful) AppendEvent(ctx context.Context, s session.Session, ev *session.Event) error {
	if callOf(ev) != nil {
		return errors.New("the disk is full")
	}
	return f.Service.AppendEvent(ctx, s, ev)
}

// TestLiveUnstoredCall does not run a tool whose call is not stored, and tells the model.
func TestLiveUnstoredCall(t *testing.T) {
	sky := weather(t, func(adk.Context, city) (map[string]any, error) {
		t.Error("the tool ran")
		return nil, nil
	})
	p := livePlan{model: sim.Config{Scenario: scenario(t, `on turn 1: call weather {"city":"Ulm"}`)},
		run: withTranscripts(), live: LiveConfig{Tools: []tool.Tool{sky}},
		sessions: Sessions(forgetful{session.InMemoryService()})}
	inBubble(t, p, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		k.say("question", time.Second)
		k.until("the end of the turn", turnEnded)
		k.hangUp()
		if r := w.model.Connections()[0].ToolReplies; len(r) != 1 || !strings.Contains(r[0].Response, "not be stored") {
			t.Errorf("the model got %+v", r)
		}
	})
}
