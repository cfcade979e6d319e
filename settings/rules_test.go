package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/voicegw/voicegw/transport"
)

// TestParseRules reads every field.
func TestParseRules(t *testing.T) {
	t.Parallel()
	list, err := ParseRules("rules.yaml", []byte(`
- name: everything
  when:
    {tenant: acme, subject: [ann, "b*"], endpoint: twilio, from: "+4930*", to: "+49", client: k, params: {c: [x, y]}}
  instructions: &brief Be brief.
  greeting: Say hello.
  voice: Puck
  language: de-DE
  model: gemini-x
  temperature: 0.5
  max_output_tokens: 300
  tools: [orders]
  client_may: [voice]
  labels: {team: shop}
  call_max: 10m
  calls: 5
  calls_per_minute: 60
- {name: nobody, when: {from: "+1*"}, refuse: Not from there.}
- {name: silent, instructions: *brief, tools: []}
`))
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	one := list[0]
	got := fmt.Sprint(one.When, one.Instructions, one.Greeting, one.Voice, one.Language, one.Model, *one.Tools,
		*one.Clients, one.Labels, one.CallMax, one.Limits, one.line, *one.Temperature, *one.MaxOutputTokens)
	const want = `{[acme] [ann b*] [twilio] [+4930*] [+49] [k] map[c:[x y]]}Be brief.Say hello.PuckdeDEgemini-x`
	if strings.ReplaceAll(got, "de-DE", "deDE") != want+"[orders] [voice] map[team:shop] 10m0s {5 60 0} 2 0.5 300" {
		t.Errorf("read as %s", got)
	}
	if list[1].Refuse != "Not from there." || list[2].Instructions != "Be brief." || len(*list[2].Tools) != 0 ||
		list[0].CallMax != 10*time.Minute {
		t.Errorf("read as %+v", list)
	}
	for _, empty := range []string{"", "# nothing\n", "[]", "null"} {
		if list, err := ParseRules("rules.yaml", []byte(empty)); err != nil || len(list) != 0 {
			t.Errorf("%q: %v %v", empty, list, err)
		}
	}
}

// TestRuleRefusals: each mistake is named with its line and what would be right.
func TestRuleRefusals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"name: x", "rules.yaml:1: want a list of rules"},
		{"- [", "rules.yaml: yaml:"},
		{"- name: x\n---\n- name: y", "more than one document"},
		{"- 7", `rules.yaml:1: a rule is "7"; want fields and values: name, when,`},
		{"- name: x\n  tols: []", `rules.yaml:2: "tols" is no field of a rule; did you mean tools?`},
		{"- name: x\n  when:\n    tennant: a", `rules.yaml:3: "tennant" is no field of when; did you mean tenant?`},
		{"- name: x\n  when: twilio", `rules.yaml:2: when is "twilio"; want fields and values: params, tenant`},
		{"- voice: Puck", "rules.yaml:1: a rule has no name"},
		{"- {name: x, when: {from: a}}\n- {name: x}", "rules.yaml:2: the rule in line 1 has the name \"x\" too"},
		{"- name: x\n- name: y", "rules.yaml:2: y: no call gets to this rule, because x before it takes all calls"},
		{"- name: x\n  name: y", "rules.yaml:2: name is given twice"},
		{"- {name: x, refuse: no, voice: Puck}", "x: refuse, and what the calls get; want one of both"},
		{"- {name: x, refuse: " + strings.Repeat("n", 121) + "}", "want a text of 1 to 120 bytes"},
		{"- {name: x, voice: no voice}", `voice is "no voice"; want a voice such as "Puck"`},
		{"- {name: x, language: german!}", `want a BCP 47 tag such as "de-DE"`},
		{"- {name: x, model: A B}", `model is "A B"; want a name such as`},
		{"- {name: x, temperature: 2.5}", `temperature is "2.5"; want a number from 0 to 2, such as 0.7`},
		{"- {name: x, temperature: NaN}", `temperature is "NaN"`},
		{"- {name: x, temperature: [1]}", "temperature is a list"},
		{"- {name: x, max_output_tokens: 1.5}", `max_output_tokens is "1.5"; want a whole number, 1 to 1048576`},
		{"- {name: x, refuse: no, temperature: 0}", "x: refuse, and what the calls get; want one of both"},
		{"- {name: x, tools: orders}", `tools is "orders"; want a list of at most 128 names; [] is none`},
		{"- {name: x, tools: ['']}", "tools has a name of 0 bytes"},
		{"- {name: x, client_may: [voise]}", `client_may: there is no "voise"; did you mean voice?`},
		{"- {name: x, call_max: 10}", `call_max is "10"; want a length of time from 1s to 24h`},
		{"- {name: x, calls: 0}", `calls is "0"; want a whole number, 1 to 10000`},
		{"- {name: x, calls_per_minute: [1]}", "calls_per_minute is a list"},
		{"- {name: x, labels: {tenant: a}}", "labels: the gateway sets tenant itself"},
		{"- {name: x, labels: [a]}", "labels is a list"},
		{"- {name: x, when: {from: []}}", "when.from is a list; want a text, or a list of 1 to 1000 texts"},
		{"- {name: x, when: {from: {a: b}}}", "when.from is a section"},
		{"- {name: x, when: {params: x}}", `when.params is "x"`},
		{"- {name: x, when: {to: " + strings.Repeat("1", 513) + "}}", "when.to has a text of 513 bytes; at most 512"},
		{"- {name: x, instructions: " + strings.Repeat("i", ruleTextMax+1) + "}", "want a text of 1 to 32768 bytes"},
		{strings.Repeat("- {name: x, when: {from: y}}\n", rulesMax+1), "there are 1001 rules; at most 1000"},
		{strings.Repeat(" ", rulesBytesMax+1), "more than 1048576 bytes"},
	} {
		if _, err := ParseRules("rules.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v; want %s", c.text, err, c.want)
		}
	}
	_, err := ParseRules("rules.yaml", []byte("- {name: x, voice: ' ', calls: -1}"))
	var list Error
	if !errors.As(err, &list) || len(list) != 2 {
		t.Errorf("two mistakes are %v", err)
	}
}

// TestRulesInSettings: rules that need what other settings lack are refused, with those that are wrong in themselves.
func TestRulesInSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	tools := write("tools.yaml", "- {name: orders, description: tells the state of an order}\n")
	for i, c := range []struct{ rules, more, want string }{
		{"- {name: x, when: {tenant: acme}}", "", "x: when.tenant and when.subject need access.secret_file"},
		{"- {name: x, tools: [ordres]}", "session: {client_tools: none, tools_file: " + tools + "}",
			`r1.yaml:1: x: tools: there is no function "ordres"; did you mean orders?`},
		{"- {name: x, tools: [orders]}", "session: {client_tools: none, tools_file: " + tools + "}", ""},
		{"- {name: x, tools: [their_own]}", "session: {client_tools: all}", ""},
		{"- {name: x, greeting: Say hello.}", "greeting: ''", "greeting needs the setting greeting"},
		{"- {name: x, greeting: Say hello.}", "", ""},
		{"- {nam: x}", "", `r6.yaml:1: "nam" is no field of a rule; did you mean name?`},
	} {
		file := write(fmt.Sprintf("r%d.yaml", i), c.rules)
		s, err := Read(Sources{File: write("voicegw.yaml", "rules: "+file+"\n"+c.more)})
		switch {
		case c.want == "" && (err != nil || len(s.Rules) != 1):
			t.Errorf("%s: %v", c.rules, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v; want %s", c.rules, err, c.want)
		}
	}
	if _, err := Read(Sources{File: write("voicegw.yaml", "rules: nowhere.yaml")}); err == nil ||
		!strings.Contains(err.Error(), "want a file that can be read") {
		t.Errorf("a missing file: %v", err)
	}
}

// TestConditions: a call must fulfil all conditions; what it lacks is taken by the empty pattern alone.
func TestConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		when   string
		hello  transport.Hello
		tenant string
		want   bool
	}{
		{"{}", transport.Hello{}, "", true},
		{"{tenant: acme}", transport.Hello{}, "acme", true},
		{"{tenant: acme}", transport.Hello{}, "acme2", false},
		{"{tenant: '*'}", transport.Hello{}, "acme", true},
		{"{tenant: '*'}", transport.Hello{}, "", false},
		{"{tenant: ''}", transport.Hello{}, "", true},
		{"{tenant: ''}", transport.Hello{}, "acme", false},
		{"{from: '+4930*'}", transport.Hello{From: "+4930123"}, "", true},
		{"{from: '+4930*'}", transport.Hello{From: "+4930"}, "", true},
		{"{from: '+4930*'}", transport.Hello{From: "+493"}, "", false},
		{"{from: ['+1*', '+44*7']}", transport.Hello{From: "+44207"}, "", true},
		{"{from: '+44*44'}", transport.Hello{From: "+444"}, "", false},
		{"{from: 'a*b*c'}", transport.Hello{From: "a-b-b-c"}, "", true},
		{"{from: 'a*b*c'}", transport.Hello{From: "a-c"}, "", false},
		{"{from: '+1', to: '+2'}", transport.Hello{From: "+1", To: "+3"}, "", false},
		{"{endpoint: [twilio, asterisk]}", transport.Hello{Endpoint: "asterisk"}, "", true},
		{"{client: kiosk, params: {floor: '3'}}", transport.Hello{Client: "kiosk",
			Params: map[string]string{"floor": "3"}}, "", true},
		{"{params: {floor: '3'}}", transport.Hello{}, "", false},
		{"{params: {floor: ''}}", transport.Hello{}, "", true},
	} {
		list, err := ParseRules("rules.yaml", []byte("- {name: x, when: "+c.when+"}"))
		if err != nil {
			t.Fatal(err)
		}
		if got := list[0].When.Take(c.tenant, "", &c.hello); got != c.want {
			t.Errorf("%s takes %+v of %q: %t", c.when, c.hello, c.tenant, got)
		}
	}
}

// rulesSchema returns the schema of rules as a validator has it.
func rulesSchema(t testing.TB) *jsonschema.Resolved {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(RulesSchema(), &schema); err != nil {
		t.Fatal(err)
	}
	r, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRulesSchema: the schema takes what the parser takes, and refuses what is no field.
func TestRulesSchema(t *testing.T) {
	t.Parallel()
	schema := rulesSchema(t)
	for text, ok := range map[string]bool{
		"- {name: x, when: {tenant: a, from: [b, c], params: {d: e}}, tools: [], client_may: [voice], call_max: 10m}": true,
		"- {name: x, calls: 5, calls_per_minute: 6, labels: {a: b}}":                                                  true,
		"- {when: {from: a}}":           false,
		"- {name: x, tols: []}":         false,
		"- {name: x, when: {form: a}}":  false,
		"- {name: x, calls: 0}":         false,
		"- {name: x, client_may: [no]}": false,
	} {
		if err := validate(t, schema, text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := ParseRules("rules.yaml", []byte(text)); (err == nil) != ok {
			t.Errorf("the parser: %s: %v", text, err)
		}
	}
}

// TestRulesAreDocumented: docs/rules.md has each field and each condition.
func TestRulesAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ruleFields() {
		if !strings.Contains(string(text), "| `"+f.name+"` |") {
			t.Errorf("docs/rules.md has no row for %s", f.name)
		}
	}
	for _, c := range conditionFields() {
		if !strings.Contains(string(text), "| `when."+c.name+"` |") {
			t.Errorf("docs/rules.md has no row for when.%s", c.name)
		}
	}
}

// FuzzRules: no text does harm. What is accepted is within the limits, and every mistake has its line.
func FuzzRules(f *testing.F) {
	f.Add("- {name: x, when: {tenant: a, params: {b: c}}, tools: [d], calls: 1}", "a", "+1")
	f.Add("- &a {name: x, when: *a}", "", "")
	f.Add("- name: x\n  name: y", "", "")
	f.Add("- {name: x, when: {from: '*'}}\n- {name: y, call_max: 1h, labels: {<<: *a}}", "", "+1")
	f.Fuzz(func(t *testing.T, text, tenant, from string) {
		list, err := ParseRules("rules.yaml", []byte(text))
		if err != nil {
			if !strings.Contains(err.Error(), "rules.yaml:") {
				t.Errorf("a mistake without its place: %v", err)
			}
			return
		}
		if len(list) > rulesMax {
			t.Errorf("%d rules", len(list))
		}
		names := map[string]bool{}
		for i := range list {
			if r := &list[i]; r.Name == "" || len(r.Name) > ruleNameMax || names[r.Name] || len(r.Instructions) > ruleTextMax {
				t.Errorf("accepted: %+v", r)
			}
			names[list[i].Name] = true
			list[i].When.Take(tenant, "", &transport.Hello{From: from})
		}
	})
}
