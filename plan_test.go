package voicegw_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
)

// TestReadyNamesTheModelOfThePlan tells the peer of the model that its call has, and of the
// gateway's where the plan leaves that open.
func TestReadyNamesTheModelOfThePlan(t *testing.T) {
	t.Parallel()
	p := plan{gw: voicegw.Config{Model: transport.Model{Name: "the house's"}}}
	p.gw.Hooks.Begin = func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
		return &voicegw.Plan{Setup: &live.Setup{Model: h.Token}}, nil
	}
	inBubble(t, p, func(w *world) {
		for token, want := range map[string]string{"gemini-own": "gemini-own", "": "the house's"} {
			h := hello()
			h.Token = token
			if got := w.call(h, manner{}).client.Ready().Model.Name; got != want {
				t.Errorf("with the model %q the peer is told of %q, want %q", token, got, want)
			}
		}
	})
}

// TestBaseTools: the functions of a plan replace those of the gateway, also by none.
func TestBaseTools(t *testing.T) {
	t.Parallel()
	tool := func(name string) voicegw.Tool { return voicegw.Tool{Name: name, Description: "a function"} }
	p := plan{gw: voicegw.Config{Tools: []voicegw.Tool{tool("of_the_gateway")}}}
	p.gw.Hooks.Begin = func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
		plans := map[string]*voicegw.Plan{"nil": {}, "none": {BaseTools: []voicegw.Tool{}},
			"other": {BaseTools: []voicegw.Tool{tool("of_the_plan")}, Tools: []voicegw.Tool{tool("more")}}}
		return plans[h.Token], nil
	}
	inBubble(t, p, func(w *world) {
		for i, test := range [][]string{{"nil", "of_the_gateway"}, {"none"}, {"other", "of_the_plan", "more"}} {
			h := hello()
			h.Token = test[0]
			w.call(h, manner{})
			setup := string(w.connection(i + 1).Setup)
			for _, name := range []string{"of_the_gateway", "of_the_plan", "more"} {
				if strings.Contains(setup, name) != slices.Contains(test[1:], name) {
					t.Errorf("with %s the model is set up with %s", test[0], setup)
				}
			}
		}
	})
	if err := voicegw.CheckTools([]voicegw.Tool{tool("a"), tool("a")}); err == nil {
		t.Error("two functions of one name are right")
	}
}

// TestSessionsOfAGateway finds the calls that are up, and no others.
func TestSessionsOfAGateway(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		if list := w.gw.Sessions(); len(list) != 0 {
			t.Errorf("%d sessions before the first call", len(list))
		}
		a, b := w.call(hello(), manner{}), w.call(hello(), manner{})
		list := w.gw.Sessions()
		if len(list) != 2 || list[0].ID() >= list[1].ID() {
			t.Fatalf("%d sessions of two calls", len(list))
		}
		id := a.client.Ready().Call
		s, ok := w.gw.Session(id)
		if !ok || s.ID() != id {
			t.Fatalf("the session of %s is %v", id, s)
		}
		if err := s.HangUp(); err != nil {
			t.Error(err)
		}
		a.over(transport.ReasonDone, "")
		if _, ok := w.gw.Session(id); ok {
			t.Error("the session of a call that has ended is found")
		}
		if list := w.gw.Sessions(); len(list) != 1 || list[0].ID() != b.client.Ready().Call {
			t.Errorf("%d sessions of one call", len(list))
		}
	})
}

// TestInstructionsOfThePlan gives a call the named instructions of its plan in place of the gateway's.
func TestInstructionsOfThePlan(t *testing.T) {
	t.Parallel()
	p := plan{gw: voicegw.Config{Instructions: map[string]string{"desk": "the gateway's"}}}
	own := map[string]string{"desk": "the plan's"}
	p.gw.Hooks.Begin = func(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
		if h.Token == "" {
			return nil, nil
		}
		return &voicegw.Plan{Instructions: own}, nil
	}
	inBubble(t, p, func(w *world) {
		for token, want := range map[string]string{"own": "the plan's", "": "the gateway's"} {
			h := hello()
			h.Token, h.Instructions = token, "desk"
			w.call(h, manner{})
			all := w.model.Connections()
			if setup := string(all[len(all)-1].Setup); !strings.Contains(setup, want) {
				t.Errorf("with the token %q the model is told %s, want %q", token, setup, want)
			}
		}
	})
}

// TestGreetingOfThePlan greets a caller as the plan says. A plan cannot add a greeting to a net without one.
func TestGreetingOfThePlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		gateway, plan, want string
		ok                  bool
	}{
		{greetCaller, "", greetCaller, true},
		{greetCaller, "Say good morning.", "Say good morning.", true},
		{"", "Say good morning.", "", false},
		{greetCaller, strings.Repeat("x", 4001), "", false},
	} {
		p := plan{gw: voicegw.Config{Greeting: c.gateway}}
		p.gw.Hooks.Begin = func(context.Context, *transport.Hello) (*voicegw.Plan, error) {
			return &voicegw.Plan{Greeting: c.plan}, nil
		}
		inBubble(t, p, func(w *world) {
			if !c.ok {
				if _, _, err := w.try(hello()); err == nil {
					t.Errorf("the greeting %.30q in place of %q is accepted", c.plan, c.gateway)
				}
				return
			}
			w.call(hello(), manner{}).ended(transport.TurnComplete)
			texts := w.model.Connections()[0].Texts
			if len(texts) == 0 || texts[0].Text != c.want {
				t.Errorf("the model is asked %+v, want %q", texts, c.want)
			}
		})
	}
}
