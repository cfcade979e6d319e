package adkagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/glebarez/sqlite"
	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/database"
	"google.golang.org/genai"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/voicegw/voicegw/agent"
)

// openDB opens a database as a session service.
func openDB(t testing.TB, d gorm.Dialector) session.Service {
	t.Helper()
	s, err := database.NewSessionService(d, &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := database.AutoMigrate(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// dialector keeps the connection of a database, so that it can be closed.
type dialector struct {
	gorm.Dialector
	db *gorm.DB
}

func (d *dialector) Initialize(db *gorm.DB) error {
	d.db = db
	return d.Dialector.Initialize(db)
}

// open opens a database until the end of the test.
func open(t testing.TB, d *dialector) session.Service {
	t.Helper()
	s := openDB(t, d)
	t.Cleanup(func() {
		if db, err := d.db.DB(); err == nil {
			_ = db.Close()
		}
	})
	return s
}

// openSQLite opens a file. SQLite has one writer: a second connection would be refused, not wait.
func openSQLite(t testing.TB) session.Service {
	d := &dialector{Dialector: sqlite.Open("file:" + filepath.Join(t.TempDir(), "s.db"))}
	s := open(t, d)
	db, err := d.db.DB()
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	return s
}

// openPostgres starts a server of its own in a folder of its own, and stops it at the end of the test.
func openPostgres(t testing.TB) session.Service {
	t.Helper()
	list, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(list) == 0 {
		t.Fatal("there is no PostgreSQL under /usr/lib/postgresql; scripts/deps.sh installs it")
	}
	bin := filepath.Dir(list[len(list)-1])
	dir, err := os.MkdirTemp("", "pg") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	attr := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		const nobody = 65534
		attr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir, c.SysProcAttr, c.Env = dir, attr, append(os.Environ(), "LC_ALL=C", "HOME="+dir)
		return c
	}
	data := filepath.Join(dir, "d")
	if out, err := command("initdb", "-D", data, "-A", "trust", "-U", "test", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v: %s", err, out)
	}
	server := command("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off")
	var log strings.Builder
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT)
		_ = server.Wait()
	})
	for range 300 { // until it listens
		out, err := command("pg_isready", "-h", dir, "-t", "1").CombinedOutput()
		if err == nil {
			return open(t, &dialector{Dialector: postgres.Open("host=" + dir + " user=test dbname=postgres")})
		}
		if !strings.Contains(string(out), "no response") && !strings.Contains(string(out), "rejecting") {
			t.Fatalf("pg_isready: %v: %s", err, out)
		}
		pause()
	}
	t.Fatalf("PostgreSQL does not answer: %s", log.String())
	return nil
}

// pause waits for a moment, for another process.
func pause() { <-time.After(20 * time.Millisecond) }

func services() map[string]func(testing.TB) session.Service {
	return map[string]func(testing.TB) session.Service{
		"memory":   func(testing.TB) session.Service { return session.InMemoryService() },
		"sqlite":   openSQLite,
		"postgres": openPostgres,
	}
}

// TestServices holds a conversation over every session service, bare and wrapped by Sessions. A second agent
// goes on with what the first one has stored.
func TestServices(t *testing.T) {
	for name, open := range services() {
		t.Run(name, func(t *testing.T) {
			svc := open(t)
			for _, wrapped := range []bool{false, true} {
				s := svc
				if wrapped {
					s = Sessions(svc)
				}
				m := script(calls(monday(), monday()), text("Soup."), text("Bye."))
				m.Repeat = true
				for range 2 {
					w := newWorld(t, mustNew(t, waiter(t, m), Options{}), over(s))
					w.must("what is there?", `host call menu{"day":"monday"} call menu{"day":"monday"}`,
						`host result menu{"dish":"soup of monday"} result menu{"dish":"soup of monday"}`, `host "Soup."`)
					w.must("thanks", `host "Bye."`)
					answeredOnce(t, w.events())
				}
			}
		})
	}
}

// faulty is a session service that does as it is told before it stores an event.
type faulty struct {
	session.Service
	before func(ev *session.Event) error
}

func (f *faulty) AppendEvent(ctx context.Context, s session.Session, ev *session.Event) error {
	if err := f.before(ev); err != nil {
		return err
	}
	return f.Service.AppendEvent(ctx, s, ev)
}

// TestUnstored fails to store each event of a turn in turn: the turn fails with that error, nothing that depends
// on the event happens, and the session goes on.
func TestUnstored(t *testing.T) {
	broken := errors.New("disk full")
	for fail := 2; fail <= 4; fail++ { // the first one is the user's
		for _, wrapped := range []bool{false, true} {
			n, asked := 0, 0
			var s session.Service = &faulty{Service: session.InMemoryService(), before: func(*session.Event) error {
				if n++; n == fail {
					return broken
				}
				return nil
			}}
			if wrapped {
				s = Sessions(s)
			}
			cfg := waiter(t, script(calls(monday()), text("Soup."), text("Fine."), text("Fine.")))
			cfg.BeforeModelCallbacks = []llmagent.BeforeModelCallback{func(adk.Context, *model.LLMRequest) (*model.LLMResponse,
				error) {
				asked++
				return nil, nil
			}}
			w := newWorld(t, mustNew(t, cfg, Options{}), over(s))
			got, err := w.say("go")
			if !errors.Is(err, broken) || len(got) != fail-2 {
				t.Errorf("event %d: %v after %q", fail, err, got)
			}
			if wrapped {
				mustFault(t, err, agent.NotStored)
			}
			if want := min(fail/2, 2); asked != want {
				t.Errorf("event %d: the model was asked %d times, want %d", fail, asked, want)
			}
			if got, err := w.say("again"); err != nil || len(got) == 0 {
				t.Errorf("after event %d: %q, %v", fail, got, err)
			}
		}
	}
}

// TestBarrier checks, with a slow service and with one that writes late and in another order, that a model
// is asked, and a tool called, only when the session has every event before.
func TestBarrier(t *testing.T) {
	for _, name := range []string{"slow", "reordering"} {
		t.Run(name, func(t *testing.T) {
			inner := session.InMemoryService()
			var mu sync.Mutex
			stored, storing := 0, false
			s := &watched{Service: inner, around: func(store func() error) error {
				mu.Lock()
				storing = true
				mu.Unlock()
				if name == "slow" {
					pause()
				}
				err := store()
				mu.Lock()
				defer mu.Unlock()
				storing = false
				stored++
				return err
			}, reorder: name == "reordering"}
			check := func(who string, want int) {
				mu.Lock()
				defer mu.Unlock()
				if storing || stored != want {
					t.Errorf("%s works when %d events are stored, want %d; storing: %v", who, stored, want, storing)
				}
			}
			n := 0
			m := says(func(_ context.Context, yield func(*model.LLMResponse, error) bool) {
				check("the model", 1+2*n)
				if n++; n <= 3 {
					yield(&model.LLMResponse{Content: &genai.Content{Role: genai.RoleModel, Parts: []*genai.Part{
						{FunctionCall: &genai.FunctionCall{Name: "look"}}, {FunctionCall: &genai.FunctionCall{Name: "look"}}}}}, nil)
					return
				}
				yield(&model.LLMResponse{Content: genai.NewContentFromText("Done.", genai.RoleModel)}, nil)
			})
			cfg := waiter(t, m)
			cfg.Tools = append(cfg.Tools, fn(t, "look", func(adk.Context, struct{}) (map[string]any, error) {
				check("a tool", 2*n)
				return map[string]any{}, nil
			}))
			w := newWorld(t, mustNew(t, cfg, Options{}), over(s))
			got, err := w.say("go")
			if err != nil || len(got) != 7 || got[6] != `host "Done."` {
				t.Errorf("%q, %v", got, err)
			}
			written := slices.Compact(slices.Sorted(slices.Values(s.written)))
			if s.reorder && len(written) != 8 {
				t.Errorf("%d events are written, want 8", len(written))
			}
		})
	}
}

// watched is a session service that is told about every event.
type watched struct {
	session.Service
	around func(store func() error) error
	// reorder writes events in pairs, the second one first, to where they are to last: late. The session in use
	// has them at once.
	reorder       bool
	wait, written []string
}

func (s *watched) AppendEvent(ctx context.Context, to session.Session, ev *session.Event) error {
	return s.around(func() error {
		if s.reorder {
			if s.wait = append(s.wait, ev.ID); len(s.wait) == 2 {
				slices.Reverse(s.wait)
				s.written, s.wait = append(s.written, s.wait...), nil
			}
		}
		return s.Service.AppendEvent(ctx, to, ev)
	})
}

// TestDeleted deletes the session while a turn runs: the turn fails, nothing hangs, and a new session of the
// same name works.
func TestDeleted(t *testing.T) {
	for name, open := range map[string]func(testing.TB) session.Service{"memory": services()["memory"],
		"sqlite": openSQLite} {
		t.Run(name, func(t *testing.T) {
			svc := Sessions(open(t))
			times := 0
			cfg := waiter(t, script(calls(call("forget")), text("Fine.")))
			cfg.Tools = append(cfg.Tools, fn(t, "forget", func(ctx adk.Context, _ struct{}) (map[string]any, error) {
				if times++; times > 1 {
					return map[string]any{}, nil
				}
				return nil, svc.Delete(ctx, &session.DeleteRequest{AppName: app, UserID: user, SessionID: sid})
			}))
			w := newWorld(t, mustNew(t, cfg, Options{}), over(svc))
			got, err := w.say("go")
			if len(got) != 1 {
				t.Errorf("%q", got)
			}
			mustFault(t, err, SessionGone)
			got, err = w.say("again")
			if err != nil || got[len(got)-1] != `host "Fine."` {
				t.Errorf("afterwards: %q, %v", got, err)
			}
		})
	}
}

// TestStale lets something else write to the session in the middle of a turn. A bare database refuses the next
// event, which fails the turn; wrapped by Sessions the turn goes on, and sees what was written. Either way the
// session works afterwards.
func TestStale(t *testing.T) {
	for name, open := range map[string]func(testing.TB) session.Service{"sqlite": openSQLite, "postgres": openPostgres} {
		t.Run(name, func(t *testing.T) {
			inner := open(t)
			for _, wrapped := range []bool{false, true} {
				svc := inner
				if wrapped {
					svc = Sessions(inner)
				}
				id := fmt.Sprint("s", wrapped)
				m := &spy{LLM: script(calls(call("meddle")), text("Fine."), text("Fine."), text("Fine."))}
				cfg := waiter(t, m)
				cfg.Tools = append(cfg.Tools, fn(t, "meddle", func(ctx adk.Context, _ struct{}) (map[string]any, error) {
					other, err := inner.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id})
					if err != nil {
						return nil, err
					}
					ev := session.NewEvent(ctx, "other")
					ev.Author, ev.Content = "user", genai.NewContentFromText("psst", genai.RoleUser)
					return map[string]any{"done": true}, inner.AppendEvent(ctx, other.Session, ev)
				}))
				w := newWorld(t, mustNew(t, cfg, Options{}), over(svc))
				content := genai.NewContentFromText("go", genai.RoleUser)
				got, err := w.run(t.Context(), content, id)
				switch {
				case wrapped && (err != nil || len(got) != 3):
					t.Errorf("wrapped: %q, %v", got, err)
				case !wrapped && (err == nil || !strings.Contains(err.Error(), "stale")):
					t.Errorf("bare: %q, %v", got, err)
				}
				if got, err := w.run(t.Context(), content, id); err != nil || len(got) == 0 {
					t.Errorf("afterwards: %q, %v", got, err)
				}
				if asked := m.requests(); !strings.Contains(asked[len(asked)-1], "psst") {
					t.Errorf("the model does not get what the other one wrote: %s", asked[len(asked)-1])
				}
			}
		})
	}
}

// TestTwoWriters runs turns of one session at the same time: they follow each other, each is whole, and every
// event is stored once.
func TestTwoWriters(t *testing.T) {
	for name, open := range services() {
		t.Run(name, func(t *testing.T) {
			m := script(calls(monday(), monday()), text("Soup."))
			m.Repeat = true
			w := newWorld(t, mustNew(t, waiter(t, m), Options{}), over(Sessions(open(t))))
			w.must("first", `host call menu{"day":"monday"} call menu{"day":"monday"}`,
				`host result menu{"dish":"soup of monday"} result menu{"dish":"soup of monday"}`, `host "Soup."`)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if got, err := w.say("more"); err != nil || len(got) == 0 {
						t.Errorf("%q, %v", got, err)
					}
				})
			}
			all.Wait()
			events := w.events()
			answeredOnce(t, events)
			last, over := "", map[string]bool{}
			seen := map[string]bool{}
			for _, e := range events {
				if seen[e.ID] {
					t.Errorf("the event %s is stored twice", e.ID)
				}
				seen[e.ID] = true
				if e.Author == userAuthor {
					continue
				}
				if over[e.InvocationID] {
					t.Errorf("the turn %s goes on after another one has begun", e.InvocationID)
				}
				if last != "" && last != e.InvocationID {
					over[last] = true
				}
				last = e.InvocationID
			}
		})
	}
}
