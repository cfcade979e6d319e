package voicenets

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// TestPlaceNames: the string of a place, here and in the automata of its environment, is the name
// of its constant.
func TestPlaceNames(t *testing.T) {
	places := 0
	for _, pattern := range []string{"*.go", "claims/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok || !isPlace(spec) {
					return true
				}
				places++
				value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if want := snake(spec.Names[0].Name); err != nil || value != want {
					t.Errorf("%s: the place %s is called %q, want %q", path, spec.Names[0], value, want)
				}
				return true
			})
		}
	}
	if places < 100 {
		t.Errorf("%d places found, want all of them", places)
	}
}

// isPlace tells a constant of a place with its name.
func isPlace(s *ast.ValueSpec) bool {
	index, ok := s.Type.(*ast.IndexExpr)
	if !ok || len(s.Values) != 1 {
		return false
	}
	sel, ok := index.X.(*ast.SelectorExpr)
	_, literal := s.Values[0].(*ast.BasicLit)
	return ok && sel.Sel.Name == "Place" && literal
}

// snake is a Go name in the case of places.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
