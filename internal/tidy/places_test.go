package tidy

import (
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"
	"unicode"
)

func placeRules() []rule {
	return []rule{{name: "place names", ofFile: goFiles(checkPlaceNames), ofTree: checkPlaceCount}}
}

// fixtures are the folders whose tests may call a place of a toy net what they like; their examples may not.
func fixtures() []string { return []string{"petri/...", "verify/..."} }

// placesMin guards against a rule that no longer recognizes places: the tree has more.
const placesMin = 300

// checkPlaceCount wants the rule to see the places of a whole tree. A tree without package petri is a test's.
func checkPlaceCount(t *tree) []string {
	if _, whole := t.paths["petri/place.go"]; !whole {
		return nil
	}
	count := 0
	for _, f := range t.files {
		if f.isGo() {
			count += len(placesOf(f))
		}
	}
	if count >= placesMin {
		return nil
	}
	return []string{"placesOf in internal/tidy/places_test.go sees " + strconv.Itoa(count) + " places, want at least " +
		strconv.Itoa(placesMin)}
}

// checkPlaceNames wants each place to have the name of its constant or variable, in snake case.
func checkPlaceNames(f *file) []string {
	if f.isTest() && matches(fixtures(), f.dir()) && !strings.HasPrefix(path.Base(f.path), "example_") {
		return nil
	}
	var out []string
	for _, p := range placesOf(f) {
		value, err := strconv.Unquote(p.value.Value)
		if want := snake(p.name.Name); err != nil || value != want {
			out = append(out, f.at(p.name, "the place %s is called %s, want %q; rename the constant, not the place",
				p.name.Name, p.value.Value, want))
		}
	}
	return out
}

// A placeName is a name in Go, and the string that is given to it.
type placeName struct {
	name  *ast.Ident
	value *ast.BasicLit
}

// placesOf are the places that a file declares with a literal: as a constant, a variable, or in a function.
func placesOf(f *file) (out []placeName) {
	names := f.localNames(module + "/petri")
	if f.dir() == "petri" {
		names["."] = true
	}
	declared := func(typed bool, name, value ast.Expr) {
		if call, ok := value.(*ast.CallExpr); ok && !typed && len(call.Args) == 1 {
			typed, value = isPlace(names, call.Fun), call.Args[0]
		}
		id, named := name.(*ast.Ident)
		literal, ok := value.(*ast.BasicLit)
		if typed && named && ok && literal.Kind == token.STRING {
			out = append(out, placeName{id, literal})
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, v := range n.Values {
				declared(isPlace(names, n.Type), n.Names[min(i, len(n.Names)-1)], v)
			}
		case *ast.AssignStmt:
			for i, v := range n.Rhs {
				if n.Tok == token.DEFINE {
					declared(false, n.Lhs[i], v)
				}
			}
		}
		return true
	})
	return out
}

// isPlace tells the type petri.Place, under the names that a file has for package petri.
func isPlace(names map[string]bool, typ ast.Expr) bool {
	index, ok := typ.(*ast.IndexExpr)
	if !ok {
		return false
	}
	switch x := index.X.(type) {
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		return ok && names[pkg.Name] && x.Sel.Name == "Place"
	case *ast.Ident:
		return names["."] && x.Name == "Place"
	}
	return false
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

func placeBreaches() []breach {
	one := func(lines ...string) map[string]string {
		return map[string]string{"agent/a.go": "package p\n\nimport \"" + module + "/petri\"\n\n" +
			strings.Join(lines, "\n") + "\n"}
	}
	const rule = "place names"
	return []breach{
		{"another name", rule, one(`const heard petri.Place[*Turn] = "answers"`),
			[]string{`agent/a.go:5: the place heard is called "answers", want "heard"`}},
		{"its own name", rule, one(`const tooLate petri.Place[*Turn] = "too_late"`), nil},
		{"the case of Go", rule, one(`const tooLate petri.Place[*Turn] = "tooLate"`), []string{`want "too_late"`}},
		{"the second of two", rule, one(`const a, b petri.Place[int] = "a", "c"`), []string{"the place b"}},
		{"in a function", rule, one("func f() {", `const round petri.Place[int] = "rounds"`, "}"), []string{`"rounds"`}},
		{"a conversion", rule, one(`const busy = petri.Place[int]("work")`), []string{`"work"`}},
		{"a variable of a function", rule, one("func f() {", `busy := petri.Place[int]("work")`, "}"), []string{`"work"`}},
		{"in a test", rule, map[string]string{"a_test.go": "package p\n\nimport \"" + module +
			"/petri\"\n\nconst a petri.Place[int] = \"b\"\n"}, []string{`"b"`}},
		{"in an example", rule, map[string]string{"petri/example_test.go": "package petri\n\nconst a Place[int] = \"b\"\n"},
			[]string{`"b"`}},
		{"in a toy net", rule, map[string]string{"petri/a_test.go": "package petri\n\nconst a Place[int] = \"b\"\n"}, nil},
		{"in package petri", rule, map[string]string{"petri/a.go": "package petri\n\nconst a Place[int] = \"b\"\n"},
			[]string{`"b"`}},
		{"a name that is computed", rule, one(`const done = petri.Place[int](prefix + "done")`), nil},
		{"no place", rule, one(`const heard petri.Label = "answers"`), nil},
		{"no places at all", rule, map[string]string{"petri/place.go": "package petri\n"}, []string{"sees 0 places"}},
	}
}
