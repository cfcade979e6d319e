package voicegw_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// TestOutputs: this package acts on every output of a session, by its place or by its colour, and on no other.
func TestOutputs(t *testing.T) {
	byColour, byPlace := actedOn(t)
	seen := map[string]bool{}
	for _, d := range []voicenets.Detection{voicenets.GatewayVAD, voicenets.ModelVAD} {
		cfg := everyInput()
		cfg.Detection = d
		net, err := voicenets.Session(cfg)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := petri.Compile(net)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range prog.Places() {
			if !p.Out {
				continue
			}
			if !byColour[p.Type] && !byPlace[p.Name] {
				t.Errorf("nobody acts on the output %s", p.Name)
			}
			seen[p.Type], seen[p.Name] = true, true
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(byColour)), slices.Collect(maps.Keys(byPlace))) {
		if !seen[name] {
			t.Errorf("no session puts out %s", name)
		}
	}
}

// actedOn are the colours of the switch in outputs.handle and the places of those in outputs.control and
// outputs.uplink.
func actedOn(t *testing.T) (colours, places map[string]bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "outputs.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	colours, places = map[string]bool{}, map[string]bool{}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !slices.Contains([]string{"handle", "control", "uplink"}, fn.Name.Name) {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			clause, ok := n.(*ast.CaseClause)
			if !ok {
				return true
			}
			for _, e := range clause.List {
				switch e := e.(type) {
				case *ast.StarExpr:
					colours["*"+ofVoicenets(t, e.X, "voicenets.")] = true
				case *ast.SelectorExpr:
					colours[ofVoicenets(t, e, "voicenets.")] = true
				case *ast.CallExpr: // on(voicenets.Dial, t, ...)
					if name, ok := e.Fun.(*ast.Ident); !ok || name.Name != "on" {
						continue // o.uplink(...)
					}
					places[placeName(ofVoicenets(t, e.Args[0], ""))] = true
				}
			}
			return true
		})
	}
	return colours, places
}

// ofVoicenets is the name of something in package voicenets, behind a prefix.
func ofVoicenets(t *testing.T, e ast.Expr, prefix string) string {
	t.Helper()
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		t.Fatalf("outputs.go acts on something that this test cannot read: %T", e)
	}
	return prefix + s.Sel.Name
}
