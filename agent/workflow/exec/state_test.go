package exec

import (
	"context"
	"testing"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow"
)

// job is one without state.
func job() *workflow.Job {
	return &workflow.Job{Agent: &workflow.Agent{}, Visit: &workflow.Visit{Flow: &workflow.Flow{}}}
}

const counters = `
name: w
agents:
  - {name: see, type: llm, model: mind, instruction: "{own?} {user:name?} {app:hits?} {temp:t?}"}
  - {name: own, type: code, function: next, input_keys: ["own?"], output_key: own}
  - {name: mine, type: code, function: next, input_keys: ["user:name?"], output_key: "user:name"}
  - {name: app, type: code, function: next, input_keys: ["app:hits?"], output_key: "app:hits"}
  - {name: temp, type: code, function: next, input_keys: ["temp:t?"], output_key: "temp:t"}
  - {name: tell, type: llm, model: mind, instruction: "{own} {user:name} {app:hits} {temp:t}"}
orchestration: {type: sequential, agents: [see, own, mine, app, temp, tell]}
`

// counting adds one to its only input.
func counting() Config {
	c := tools()
	c.Functions["next"] = Function{Call: func(_ context.Context, in map[string]any) (any, error) {
		for _, v := range in {
			n, _ := v.(float64)
			return n + 1, nil
		}
		return nil, nil
	}}
	return c
}

// begins another session of the workflow, for an owner.
func (h *house) other(o managed.Owner) string {
	h.Helper()
	d, err := h.e.Definition(h.e.Names()[0])
	if err != nil {
		h.Fatal(err)
	}
	a, err := h.rt.CreateAgent(h.Context(), o, d)
	if err != nil {
		h.Fatal(err)
	}
	s, err := h.rt.StartSession(h.Context(), o, managed.SessionRequest{Agent: a.ID})
	if err != nil {
		h.Fatal(err)
	}
	return s.ID
}

// TestState holds state to its life: of the run, the session, the user's sessions, all of them.
func TestState(t *testing.T) {
	for name, store := range map[string]func(h *house) Store{
		"memory":  func(*house) Store { return NewMemoryStore() },
		"journal": func(h *house) Store { return NewJournalStore(h.journal) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, counters, counting(), echo)
			defer func() { h.close() }()
			h.e.cfg.Store = store(h)
			check := func(first, last string) {
				t.Helper()
				h.tells("go", "see: "+first+"\nown: "+last[:1]+"\nmine: "+last[2:3]+"\napp: "+last[4:5]+"\ntemp: 1\ntell: "+last+
					" 1\nw: "+last+" 1")
			}
			check("   ", "1 1 1")
			check("1 1 1 ", "2 2 2")
			h.close()
			h.open()
			check("2 2 2 ", "3 3 3")
			h.session, h.last = h.other(ada), 0
			check(" 3 3 ", "1 4 4")
			if _, err := h.rt.Session(t.Context(), managed.Owner{Tenant: "acme", User: "bob"}, h.session); err == nil {
				t.Error("another user sees the session")
			}
		})
	}
}

// TestPlaces wants users and workflows to have places of their own, whatever their names are.
func TestPlaces(t *testing.T) {
	p := &program{f: &flow{w: &workflow.Workflow{Name: "w"}}}
	seen := map[string]bool{p.appPlace(): true}
	owners := []managed.Owner{{Tenant: "a", User: "b"}, {Tenant: "a", User: "c"}, {Tenant: "ab"}, {User: "ab"}, {}}
	for _, o := range owners {
		if at := p.userPlace(o); seen[at] {
			t.Errorf("%v shares the place %s", o, at)
		} else {
			seen[at] = true
		}
	}
}

// TestClock wants the seeds of a run to be those of its beginning, in the zone of the Config.
func TestClock(t *testing.T) {
	c, now := tools(), time.Date(2026, 11, 24, 23, 59, 0, 0, time.UTC)
	c.Zone = time.FixedZone("UTC+2", 2*3600)
	c.Now = func() time.Time { now = now.Add(time.Hour); return now }
	h := newHouse(t, agents("", "a", "b")+"orchestration: {type: sequential, agents: [a, b]}", c, echo)
	defer h.close()
	h.tells("go", "a: a\nb: b\nw: b")
	w := newHouse(t, `
name: w
agents:
  - {name: a, type: llm, model: mind, instruction: "{current_date} {current_datetime} {timezone}"}
  - {name: b, type: llm, model: mind, instruction: "{current_datetime}"}
orchestration: {type: sequential, agents: [a, b]}
`, c, echo)
	defer w.close()
	w.tells("go", "a: 2026-11-25 2026-11-25T03:59:00+02:00 UTC+2\nb: 2026-11-25T03:59:00+02:00\n"+
		"w: 2026-11-25T03:59:00+02:00")
}
