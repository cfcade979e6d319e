package access

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// world is a guard with several callers of one address, tenant and subject. A caller attempts to
// call, shows a valid token or another one, and hangs up.
type world struct {
	address, tenant, subject Limits
	callers                  int
}

func worlds() map[string]world {
	return map[string]world{
		"address": {callers: 4, address: Limits{Calls: 2, CallsPerMinute: 3}, tenant: Limits{Calls: 3},
			subject: Limits{Calls: 3}},
		"tenant": {callers: 4, address: Limits{Calls: 3}, tenant: Limits{Calls: 1, CallsPerMinute: 2},
			subject: Limits{Calls: 1}},
		"subject": {callers: 4, address: Limits{Calls: 3}, tenant: Limits{Calls: 2},
			subject: Limits{Calls: 1, CallsPerMinute: 1}},
		"rate alone": {callers: 3, address: Limits{CallsPerMinute: 2}, tenant: Limits{CallsPerMinute: 2},
			subject: Limits{CallsPerMinute: 1}},
		"bytes": {callers: 3, address: Limits{Calls: 2, BytesPerMinute: 60}, tenant: Limits{BytesPerMinute: 60},
			subject: Limits{Calls: 1, BytesPerMinute: 60}},
	}
}

// String names the caller and what it does.
func (m move) String() string { return fmt.Sprintf("%d %s", m.caller+1, m.does) }

// The stages of a caller.
const (
	outside  = 'o'
	entered  = 'e' // holds a permit of the address
	inCall   = 'c' // holds a permit of each
	finished = 'f'
)

// A move is what one caller does next, or that ten seconds pass.
type move struct {
	caller int
	does   string
}

const (
	enters     = "enters"
	showsValid = "shows a valid token"
	showsBad   = "shows a bad token"
	spends     = "spends"
	hangsUp    = "hangs up"
	timePasses = "waits"
)

// run is one course of a world.
type run struct {
	world
	clock  *clock
	guard  *Guard
	stages []rune
	grants []*Grant
	passed int            // moves of timePasses
	starts map[string]int // permits that callers got, by whose
}

func (w world) replay(t *testing.T, moves []move) *run {
	c := newClock()
	r := &run{world: w, clock: c, starts: map[string]int{}, stages: make([]rune, w.callers),
		grants: make([]*Grant, w.callers), guard: guard(t, c, Config{Address: w.address, Tenant: w.tenant})}
	for i := range r.stages {
		r.stages[i] = outside
	}
	for _, m := range moves {
		r.do(m)
	}
	return r
}

// moves are those that are possible now.
func (r *run) moves() []move {
	var list []move
	for i, stage := range r.stages {
		switch stage {
		case outside:
			list = append(list, move{i, enters})
		case entered:
			list = append(list, move{i, showsValid}, move{i, showsBad})
		case inCall:
			list = append(list, move{i, spends}, move{i, hangsUp})
		}
	}
	if r.passed < 2 {
		list = append(list, move{does: timePasses})
	}
	return list
}

func (r *run) do(m move) {
	i := m.caller
	var err error
	switch m.does {
	case enters:
		r.stages[i] = entered
		if r.grants[i], err = r.guard.enter("192.0.2.1"); err == nil {
			r.starts["address"]++
		}
	case showsValid:
		r.stages[i] = inCall
		err = r.guard.admit(r.grants[i], &Claims{Tenant: "acme", Subject: "ann", Limits: r.subject}, nil)
		if err == nil {
			r.starts["tenant"]++
			r.starts["subject"]++
		}
		r.grants[i].abandon() // as Check does
	case showsBad:
		err = r.guard.admit(r.grants[i], nil, errExpired)
		r.grants[i].abandon()
	case spends:
		r.grants[i].Spend(30)
	case hangsUp:
		r.stages[i] = finished
		r.grants[i].Release()
	case timePasses:
		r.passed++
		r.clock.pass(10 * time.Second)
	}
	if err != nil {
		r.stages[i] = finished
	}
}

// limits are those of the quotas, in the order of Grant.quotas.
func (r *run) limits() map[string]Limits {
	return map[string]Limits{"address 192.0.2.1": r.address, "tenant acme": r.tenant,
		"subject " + (&Claims{Tenant: "acme", Subject: "ann", Limits: r.subject}).subjectKey(): r.subject}
}

// holders counts the callers that hold a permit of a quota.
func (r *run) holders(of string) int {
	n := 0
	for _, stage := range r.stages {
		if stage == inCall || stage == entered && of == "address" {
			n++
		}
	}
	return n
}

// problem describes a broken rule, "" for none.
func (r *run) problem() string {
	for key, limits := range r.limits() {
		q := r.guard.quotas.byKey[key]
		if q == nil {
			continue
		}
		switch n := r.holders(q.of); {
		case q.calls != n:
			return fmt.Sprintf("the %s has %d permits taken, and %d holders", q.of, q.calls, n)
		case limits.Calls > 0 && n > limits.Calls:
			return fmt.Sprintf("the %s has %d calls", q.of, n)
		case q.starts != nil && r.starts[q.of] > limits.CallsPerMinute*(6+r.passed)/6:
			return fmt.Sprintf("the %s has begun %d calls", q.of, r.starts[q.of])
		case q.bytes != nil && q.bytes.TokensAt(r.clock.t) < 0:
			return fmt.Sprintf("the %s has %v bytes", q.of, q.bytes.TokensAt(r.clock.t))
		}
	}
	return ""
}

// state identifies what can still happen. A quota that is not kept is one that is full.
func (r *run) state() string {
	s := fmt.Sprint(string(r.stages), r.passed)
	for _, key := range slices.Sorted(maps.Keys(r.guard.quotas.byKey)) {
		q := r.guard.quotas.byKey[key]
		s += fmt.Sprint(" ", key, q.calls, untilHas(q.starts, 9, r.clock.t), untilHas(q.bytes, 99, r.clock.t))
	}
	return s
}

// TestOrders tries every order in which the callers of a world can come, be refused, talk and hang
// up: no limit is exceeded, as many permits are taken as callers hold, and when all have left and a
// minute has passed, every quota is full again.
func TestOrders(t *testing.T) {
	for name, w := range worlds() {
		t.Run(name, func(t *testing.T) {
			refused := map[string]bool{}
			known := map[string]bool{}
			queue := [][]move{nil}
			for ; len(queue) > 0; queue = queue[1:] {
				r := w.replay(t, queue[0])
				if known[r.state()] {
					continue
				}
				known[r.state()] = true
				if p := r.problem(); p != "" {
					t.Fatalf("%s after %v", p, queue[0])
				}
				for _, m := range r.moves() {
					queue = append(queue, append(slices.Clip(queue[0]), m))
				}
				for why := range r.guard.Stats().Denied {
					refused[why] = true
				}
				if left := r.leave(); left != 0 {
					t.Fatalf("%d quotas are not full at the end of %v", left, queue[0])
				}
			}
			if len(known) < 100 || len(refused) < 2 {
				t.Errorf("%d states with the refusals %v: too few", len(known), refused)
			}
			t.Logf("%d states, refusals %v", len(known), slices.Sorted(maps.Keys(refused)))
		})
	}
}

// leave lets everybody leave and a minute pass. It returns how many quotas are not full then.
func (r *run) leave() int {
	for i, stage := range r.stages {
		switch stage {
		case entered:
			r.do(move{i, showsBad})
		case inCall:
			r.do(move{i, hangsUp})
		}
	}
	r.clock.pass(time.Minute + time.Second)
	r.guard.quotas.sweep(r.clock.t)
	return r.guard.Stats().Quotas
}
