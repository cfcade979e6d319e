package voicegw

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// TestSessionRules: what a client asks for is followed if a rule allows it, and refused by name if
// not.
func TestSessionRules(t *testing.T) {
	all := SessionRules{Instructions: true, Generation: true, Voices: Names{All: true}, Models: Names{All: true},
		Tools: Names{All: true}}
	hot, cold, long, short := float32(3), float32(0.5), int32(100), int32(0)
	object := json.RawMessage(`{"type":"object"}`)
	for name, tt := range map[string]struct {
		rules   SessionRules
		asked   transport.Session
		want    live.Setup
		tools   string
		refused string // fields
		says    string // in the first refusal
	}{
		"nothing": {all, transport.Session{}, live.Setup{SystemInstruction: "ours", Voice: "Kore"}, "ours", "", ""},
		"everything": {all, transport.Session{Model: "m", Voice: "puck", SystemInstruction: "mine", Temperature: &cold,
			MaxOutputTokens: &long, Tools: []transport.Tool{{Name: "a", Parameters: object}, {Name: "b"}}},
			live.Setup{Model: "m", Voice: "Puck", SystemInstruction: "mine", Temperature: &cold, MaxOutputTokens: &long},
			"ours a b", "", ""},
		"no rules": {SessionRules{}, transport.Session{Model: "m", Voice: "Puck", SystemInstruction: "mine",
			Temperature: &cold, MaxOutputTokens: &long, Tools: []transport.Tool{{Name: "a"}}},
			live.Setup{SystemInstruction: "ours", Voice: "Kore"}, "ours",
			"system_instruction model voice temperature max_output_tokens tools", "this server decides it"},
		"listed": {SessionRules{Voices: Names{List: []string{"Puck"}}, Models: Names{List: []string{"m"}},
			Tools: Names{List: []string{"a"}}}, transport.Session{Model: "n", Voice: "Zephyr",
			Tools: []transport.Tool{{Name: "a"}, {Name: "b"}}}, live.Setup{SystemInstruction: "ours", Voice: "Kore"},
			"ours a", "model voice tools", `"n"; it must be absent or one of m`},
		"a voice of another vendor": {all, transport.Session{Voice: "marin"}, live.Setup{SystemInstruction: "ours",
			Voice: "Kore"}, "ours", "voice", "such as Puck"},
		"values that no model accepts": {all, transport.Session{Model: "a b", Temperature: &hot, MaxOutputTokens: &short},
			live.Setup{SystemInstruction: "ours", Voice: "Kore"}, "ours", "model temperature max_output_tokens",
			"a name such as"},
		"bad tools": {all, transport.Session{Tools: []transport.Tool{{Name: "ours"}, {Name: "no name"},
			{Name: "a", Parameters: json.RawMessage(`[]`)}, {Name: "forbidden"}, {Name: "b"}, {Name: "b"}}},
			live.Setup{SystemInstruction: "ours", Voice: "Kore"}, "ours b", "tools tools tools tools tools",
			`the function "ours"`},
	} {
		p := &Plan{Setup: &live.Setup{SystemInstruction: "ours", Voice: "Kore"}, Tools: []Tool{{Name: "ours"}},
			Allow: func(name string) bool { return name != "forbidden" }}
		before := p.Setup
		var fields, tools []string
		refused := tt.rules.follow(&transport.Hello{Session: tt.asked}, p)
		for _, f := range refused {
			fields = append(fields, f.Field)
		}
		for _, own := range p.Tools {
			tools = append(tools, own.Name)
		}
		if got, want := fmt.Sprintf("%+v", *p.Setup), fmt.Sprintf("%+v", tt.want); got != want {
			t.Errorf("%s: the setup is %s, want %s", name, got, want)
		}
		if strings.Join(tools, " ") != tt.tools || strings.Join(fields, " ") != tt.refused {
			t.Errorf("%s: the tools are %v, refused are %v", name, tools, fields)
		}
		if tt.says != "" && !strings.Contains(refused[0].Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, refused[0], tt.says)
		}
		if before.SystemInstruction != "ours" || before.Voice != "Kore" {
			t.Errorf("%s: the setup of other calls changed", name)
		}
	}
}

// TestSessionRulesOfPlans: the functions of clients get slots in the net, instructions that a token
// names win over those of the client, and the rules of a plan replace those of the gateway.
func TestSessionRulesOfPlans(t *testing.T) {
	cfg := Config{Dialer: noDialer{}, Session: SessionRules{Instructions: true, Tools: Names{All: true}},
		Instructions: map[string]string{"support": "help"}}
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if g.cfg.Net.ToolSlots != toolSlotsDefault {
		t.Errorf("%d slots for the tools of clients", g.cfg.Net.ToolSlots)
	}
	hello := &transport.Hello{Instructions: "support", Session: transport.Session{SystemInstruction: "mine"}}
	p, err := g.plan(t.Context(), hello)
	if err != nil || len(p.refused) != 1 || modelSetup(&g.cfg, p, hello).SystemInstruction != "help" {
		t.Errorf("%+v, %v", p, err)
	}
	g.cfg.Hooks.Begin = func(context.Context, *transport.Hello) (*Plan, error) {
		return &Plan{Session: &SessionRules{}}, nil
	}
	p, err = g.plan(t.Context(), &transport.Hello{Session: transport.Session{Tools: []transport.Tool{{Name: "a"}}}})
	if err != nil || len(p.refused) != 1 || len(p.Tools) > 0 {
		t.Errorf("a plan without rules: %+v, %v", p, err)
	}
}

// TestSessionRulesOnly: a token narrows the rules and never widens them.
func TestSessionRulesOnly(t *testing.T) {
	r := SessionRules{Instructions: true, Voices: Names{All: true}, Tools: Names{List: []string{"a"}}}
	if got := r.Only(nil); fmt.Sprint(got) != fmt.Sprint(r) {
		t.Errorf("nil: %+v", got)
	}
	for _, names := range [][]string{{}, {"generation"}, {"model"}} {
		if got := r.Only(names); fmt.Sprint(got) != fmt.Sprint(SessionRules{}) {
			t.Errorf("%v: %+v", names, got)
		}
	}
	if got := r.Only([]string{"tools", "instructions"}); !got.Instructions || got.Voices.All ||
		!slices.Equal(got.Tools.List, []string{"a"}) {
		t.Errorf("tools and instructions: %+v", got)
	}
}

// TestOneMode: a gateway with a single mode proves one net, and every call runs on it.
func TestOneMode(t *testing.T) {
	for _, own := range []voicenets.Detection{voicenets.GatewayVAD, voicenets.ModelVAD} {
		g, err := New(Config{Dialer: noDialer{}, Detection: own, OneMode: true})
		if err != nil {
			t.Fatal(err)
		}
		if nets := g.Nets(); len(nets) != 1 || nets[0].Detection != own || nets[0].HalfDuplex {
			t.Errorf("%v: the nets are %+v", own, nets)
		}
		names := []transport.Detection{transport.DetectionGatewayVAD, transport.DetectionModelVAD}
		for _, tt := range []struct {
			hello   transport.Hello
			refused string
		}{
			{transport.Hello{}, ""},
			{transport.Hello{Detection: names[own]}, ""},
			{transport.Hello{Detection: names[1-own]}, "detection"},
			{transport.Hello{Detection: names[1-own], HalfDuplex: true}, "detection half_duplex"},
		} {
			p, err := g.plan(t.Context(), &tt.hello)
			if err != nil {
				t.Fatal(err)
			}
			var fields []string
			for _, f := range p.refused {
				fields = append(fields, f.Field)
			}
			if got := strings.Join(fields, " "); got != tt.refused {
				t.Errorf("%v, %+v: refused are %q, want %q", own, tt.hello, got, tt.refused)
			}
			c := newCall(g, nil, tt.hello, p)
			if c.prog == nil || c.prog != g.programs[variant{own, false}] {
				t.Errorf("%v, %+v: the call runs on another net", own, tt.hello)
			}
			if ready := readyMessage("", &g.cfg, p, &c.hello); ready.Detection != names[own] {
				t.Errorf("%v, %+v: the client is told %q", own, tt.hello, ready.Detection)
			}
		}
		_, err = g.plan(t.Context(), &transport.Hello{Detection: transport.DetectionPush})
		if (err != nil) != (own == voicenets.ModelVAD) {
			t.Errorf("%v: a client with a button: %v", own, err)
		}
	}
}
