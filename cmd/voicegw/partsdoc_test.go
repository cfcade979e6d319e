package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/claims"
)

// documented is the session whose claims docs/parts.md lists.
func documented() voicenets.Config {
	c := shippedNets()[0].config
	c.Hints, c.Consent, c.ToolSlots, c.RepromptAfter = true, true, 1, 10*time.Second
	for p := range voicenets.Prompt(0).KeyNames() {
		c.Prompts = c.Prompts.With(voicenets.Prompt(p))
	}
	return c
}

// documentedParts are the parts that the page has a section for.
func documentedParts(t *testing.T) []string {
	list, err := voicenets.PartsOf(documented())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range list {
		names = append(names, string(p))
	}
	return names
}

// TestNetPart draws one part, and says which there are.
func TestNetPart(t *testing.T) {
	t.Parallel()
	r := command(t, nil, "net", "session/turns", "--format", "svg")
	r.want(t, 0, `data-place="in_turn"`, "shared with other parts", "session/turns: a part of a call")
	wellFormed(t, r.stdout)
	command(t, nil, "net", "session/turns", "--format", "json").want(t, 0, `"name": "barge_in"`)
	command(t, nil, "net", "session/tools").want(t, 0, "start_call_0")
	command(t, nil, "net", "session-model-vad/turns").want(t, 0, "interrupt_paused")
	command(t, nil, "net", "session/playut").want(t, 2, "did you mean playout?")
	command(t, nil, "net", "session/orchestra").want(t, 2, "its parts are speech, turns,")
}

// TestPartDrawingsAreFresh holds docs/parts/*.svg to the parts.
func TestPartDrawingsAreFresh(t *testing.T) {
	t.Parallel()
	for _, part := range documentedParts(t) {
		name := filepath.Join("..", "..", "docs", "parts", part+".svg")
		var fresh bytes.Buffer
		if err := drawNet(&fresh, "session/"+part, "svg"); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(name, fresh.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if committed, err := os.ReadFile(name); err != nil || !bytes.Equal(committed, fresh.Bytes()) {
			t.Errorf("%s is not how the part looks (%v): go test ./cmd/voicegw -run Fresh -update", name, err)
		}
	}
}

// codes is a list of names in Markdown, or "none".
func codes(names []string) string {
	if len(names) == 0 {
		return "none."
	}
	return "`" + strings.Join(names, "`, `") + "`."
}

// portTable lists the ports of a part.
func portTable(t *testing.T, part string) string {
	n, err := shippedNets()[0].part(part)
	if err != nil {
		t.Fatal(err)
	}
	p, err := petri.Compile(petri.Alone(n))
	if err != nil {
		t.Fatal(err)
	}
	words := portWords(t)
	table := "| port | colour | the part | meaning |\n|---|---|---|---|\n"
	for _, port := range n.Ports {
		i := p.Place(port.String())
		pl := p.Places()[i]
		colour := strings.ReplaceAll(pl.Type, "voicenets.", "")
		word := words[regexp.MustCompile(`_[1-9]\d*$`).ReplaceAllString(pl.Name, "_0")] // the slots of tools are alike
		if word == "" {
			t.Errorf("port %s of %s is not explained in voicenets", pl.Name, part)
		}
		table += fmt.Sprintf("| `%s` | `%s` | %s | %s |\n", pl.Name, colour, strings.Join(deals(p, i), ", "), word)
	}
	return table
}

// deals are what a part does with a place.
func deals(p *petri.Program, place int) []string {
	var does [petri.OutArc + 1]bool
	for _, t := range p.Transitions() {
		for _, a := range t.Arcs {
			does[a.Kind] = does[a.Kind] || a.Place == place
		}
	}
	var out []string
	for _, d := range []struct {
		is   bool
		word string
	}{
		{does[petri.ReadArc] || does[petri.InhibitArc], "looks"}, {does[petri.InArc] || does[petri.ResetArc], "takes"},
		{does[petri.OutArc], "fills"},
	} {
		if d.is {
			out = append(out, d.word)
		}
	}
	return out
}

// portWords are the comments on the places that voicenets declares as constants, by the places'
// names.
func portWords(t *testing.T) map[string]string {
	words := map[string]string{
		"entry": "those of an entry that goes on", "entry_complete": "an entry that is complete",
		"tool_running_0": "the tool that runs in a slot",
		"tool_current_0": "the caller has begun no turn since the tool in the slot began",
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "voicenets", "ports.go"), nil,
		parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		name, err := strconv.Unquote(lit.Value)
		if err == nil && spec.Comment != nil {
			words[name] = strings.TrimSpace(spec.Comment.Text())
		}
		return true
	})
	if words["call_ended"] == "" {
		words["call_ended"] = "the call is over"
	}
	return words
}

// settingsOf are the fields of voicenets.Config that change a part of the documented session, or of
// one that waits longer for some callers.
func settingsOf(t *testing.T, part string) []string {
	shape := func(c voicenets.Config) string {
		n, err := voicenets.Subnet(c, voicenets.Part(part))
		if err != nil {
			return err.Error()
		}
		p, err := petri.Compile(petri.Alone(n))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(export(p))
	}
	patient := documented()
	patient.Adaptive = true
	var out []string
	fields := reflect.TypeFor[voicenets.Config]()
	for i := range fields.NumField() {
		for _, base := range []voicenets.Config{documented(), patient} {
			was := shape(base)
			if slices.ContainsFunc(others(base, i), func(c voicenets.Config) bool { return shape(c) != was }) {
				out = append(out, fields.Field(i).Name)
				break
			}
		}
	}
	return out
}

// others are valid configurations that differ in one field.
func others(c voicenets.Config, field int) []voicenets.Config {
	filled, _ := c.Filled()
	var list []voicenets.Config
	try := func(set func(reflect.Value)) {
		other := filled
		set(reflect.ValueOf(&other).Elem().Field(field))
		if _, err := other.Filled(); err == nil {
			list = append(list, other)
		}
	}
	switch v := reflect.ValueOf(&filled).Elem().Field(field); v.Kind() {
	case reflect.Bool:
		try(func(f reflect.Value) { f.SetBool(!f.Bool()) })
	case reflect.Int:
		for _, n := range []int64{1, 3, 7} {
			try(func(f reflect.Value) { f.SetInt(n) })
		}
	case reflect.Uint8:
		for bit := range 6 {
			try(func(f reflect.Value) { f.SetUint(f.Uint() ^ 1<<bit) })
		}
	case reflect.Int64:
		for _, d := range []time.Duration{250 * time.Millisecond, 3 * time.Second, 13 * time.Second, 2 * time.Minute} {
			try(func(f reflect.Value) { f.SetInt(int64(d)) })
		}
	case reflect.Array:
		try(func(f reflect.Value) { f.Index(1).SetInt(int64(700 * time.Millisecond)) })
	}
	return list
}

// partClaims are the claims about a session, and who could break each.
type partClaims struct {
	props []*verify.Property
	by    map[string][]string // property to parts
}

// claimsOf finds, for each claim that is proved of the documented session, the parts that change a
// place it speaks of, or have a transition it speaks of.
func claimsOf(t *testing.T) partClaims {
	c := documented()
	closed, err := claims.Hostile(c)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := petri.Compile(closed)
	if err != nil {
		t.Fatal(err)
	}
	session, err := voicenets.Session(c)
	if err != nil {
		t.Fatal(err)
	}
	out := partClaims{by: map[string][]string{}}
	for _, slice := range claims.Proofs(c, prog) {
		for _, p := range slice.Props {
			known := func(o *verify.Property) bool { return o.Name == p.Name }
			if strings.HasPrefix(p.Name, "never ") || slices.ContainsFunc(out.props, known) {
				continue
			}
			out.props = append(out.props, p)
			for _, n := range session.Nets {
				if changes(n, claim.ExprOf(p.Claim)) {
					out.by[p.Name] = append(out.by[p.Name], n.Name)
				}
			}
		}
	}
	return out
}

// changes reports whether a part changes a place that an expression names, or has a transition of
// that name.
func changes(n *petri.Net, expr string) bool {
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`[a-z_0-9/]+`).FindAllString(strings.ReplaceAll(expr, "!ended", ""), -1) {
		words[w[strings.LastIndexByte(w, '/')+1:]] = true
	}
	for _, t := range n.Transitions {
		if words[t.Name] {
			return true
		}
		for _, a := range slices.Concat(t.In, t.Reset, t.Out.Arcs()) {
			if words[petri.ArcPlace(a).String()] {
				return true
			}
		}
	}
	return false
}

// of are the claims that a part could break.
func (c partClaims) of(part string) []string {
	var out []string
	for _, p := range c.props {
		if slices.Contains(c.by[p.Name], part) {
			out = append(out, p.Name)
		}
	}
	return out
}

// table lists all claims.
func (c partClaims) table() string {
	s := "| claim | what it says | parts that could break it |\n|---|---|---|\n"
	for _, p := range c.props {
		who := strings.Join(c.by[p.Name], ", ")
		if who == "" {
			who = "all that send to the peer or the model"
		}
		s += fmt.Sprintf("| `%s` | %s | %s |\n", p.Name, p.Doc, who)
	}
	return s
}
