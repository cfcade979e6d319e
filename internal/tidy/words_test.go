package tidy

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

func wordRules() []rule {
	return []rule{
		{name: "exported comments", ofFile: shippedGo(checkExported)},
		{name: "package comments", ofTree: checkPackageComments},
		{name: "to-do notes", ofFile: checkNotes},
		{name: "foreign words", ofFile: checkForeignWords},
	}
}

// checkExported wants a comment on every exported name: on a type, function or method itself; on a constant or
// variable itself, beside it, or on its group.
func checkExported(f *file) []string {
	var out []string
	for _, decl := range f.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			out = append(out, exportedFunc(f, d)...)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				out = append(out, exportedSpec(f, d, spec)...)
			}
		}
	}
	return out
}

// exportedFunc complains about a function, or method of an exported type, without a comment.
func exportedFunc(f *file, d *ast.FuncDecl) []string {
	if d.Doc != nil || !d.Name.IsExported() || d.Recv != nil && !ast.IsExported(receiver(d)) {
		return nil
	}
	return []string{f.at(d, "exported %s has no comment", d.Name.Name)}
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// exportedSpec complains about exported types, constants and variables without a comment.
func exportedSpec(f *file, d *ast.GenDecl, spec ast.Spec) []string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		alone := !d.Lparen.IsValid() && d.Doc != nil
		if s.Name.IsExported() && s.Doc == nil && !alone {
			return []string{f.at(s, "exported %s has no comment", s.Name.Name)}
		}
	case *ast.ValueSpec:
		if d.Doc != nil || s.Doc != nil || s.Comment != nil {
			return nil
		}
		for _, name := range s.Names {
			if name.IsExported() {
				return []string{f.at(s, "exported %s has no comment", name.Name)}
			}
		}
	}
	return nil
}

// checkPackageComments wants a comment on each package in one of its files, doc.go by custom.
func checkPackageComments(t *tree) []string {
	documented, first := map[string]bool{}, map[string]*file{}
	for _, f := range t.files {
		if !f.isGo() || f.isTest() {
			continue
		}
		documented[f.dir()] = documented[f.dir()] || f.ast.Doc != nil
		if first[f.dir()] == nil {
			first[f.dir()] = f
		}
	}
	var out []string
	for dir, f := range first {
		if !documented[dir] {
			out = append(out, f.atLine(1, "package %s has no comment: %s", f.ast.Name.Name, path.Join(dir, "doc.go")))
		}
	}
	return out
}

// checkNotes wants the number of an issue on every note of work left to do: the word, then (#12).
func checkNotes(f *file) []string {
	note := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b(\(#\d+\))?`)
	var out []string
	for i, line := range f.lines() {
		for _, m := range note.FindAllStringSubmatch(line, -1) {
			if m[2] == "" {
				out = append(out, f.atLine(i+1, "%s without an issue number: %s(#12)", m[1], m[1]))
			}
		}
	}
	return out
}

// foreignWords are what speaks of the machine a file was made on, or of who made it and how, not of voicegw. They are
// broken up here so that this file passes.
func foreignWords() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, pattern := range []string{
		`(^|[^\w.\-/])/(wo` + `rk|ro` + `ot|ho` + `me)/`,            // paths of one machine
		`\bsha` + `red/(reference|seeds|[A-Z]+\.md)`,                // papers beside the tree
		`\b(proxy\.golang|registry\.npmjs|deb\.debian)\.` + `org\b`, // registries
		`\b(hel` + `pers?|issue track` + `er|coding age` + `nts?|age` + `nt tools?)\b`,
	} {
		out = append(out, regexp.MustCompile(pattern))
	}
	return out
}

// checkForeignWords refuses foreignWords in every file, whatever it is, except a list of other people's packages: they
// have the names they have.
func checkForeignWords(f *file) []string {
	if strings.HasSuffix(f.path, "package-lock.json") {
		return nil
	}
	patterns := foreignWords()
	var out []string
	for i, line := range f.lines() {
		for _, p := range patterns {
			if m := p.FindString(line); m != "" {
				out = append(out, f.atLine(i+1, "%q: files speak of voicegw alone", strings.TrimSpace(m)))
			}
		}
	}
	return out
}

func wordBreaches() []breach {
	one := func(path, src string) map[string]string { return map[string]string{path: src} }
	src := func(lines string) map[string]string { return one("a.go", "package p\n"+lines+"\n") }
	return []breach{
		{"function", "exported comments", src("func F() {}"), []string{"F has no comment"}},
		{"method", "exported comments", src("func (t *T[K]) M() {}"), []string{"M has no comment"}},
		{"type", "exported comments", src("type T int"), []string{"T has no comment"}},
		{"type in a group", "exported comments", src("// G.\ntype (\n\tT int\n)"), []string{"T has no comment"}},
		{"constant", "exported comments", src("const (\n\tA = 1\n\tb = 2\n)"), []string{"A has no comment"}},
		{"empty line between", "exported comments", src("// F does.\n\nfunc F() {}"), []string{"F has no comment"}},
		{"commented", "exported comments", src("// F does.\nfunc F() {}\n\n// T is.\ntype T int"), nil},
		{"group's comment", "exported comments", src("// Letters.\nconst (\n\tA = 1\n\tB = 2\n)"), nil},
		{"comment beside", "exported comments", src("const (\n\tA = 1 // first\n)"), nil},
		{"unexported", "exported comments", src("func (t t) M() {}\nfunc f() {}"), nil},
		{"a test's", "exported comments", one("a_test.go", "package p\nfunc F() {}\n"), nil},
		{"package", "package comments", one("x/a.go", "package x\n"), []string{"x/doc.go"}},
		{"package commented elsewhere", "package comments",
			map[string]string{"x/a.go": "package x\n", "x/doc.go": "// Package x is.\npackage x\n"}, nil},
		{"package of tests", "package comments", one("x/a_test.go", "package x\n"), nil},
		{"comment in its test only", "package comments",
			map[string]string{"x/a.go": "package x\n", "x/a_test.go": "// Package x is.\npackage x\n"}, []string{"x/doc.go"}},
		{"no number", "to-do notes", src("// TO" + "DO: later"), []string{"a.go:2: "}},
		{"a name is no number", "to-do notes", one("web/a.js", "// FIX"+"ME(me): later\n"), []string{"web/a.js:1: "}},
		{"with a number", "to-do notes", src("// TO" + "DO(#12): later"), nil},
		{"part of a word", "to-do notes", src("// MASTO" + "DON"), nil},
		{"a machine's path", "foreign words", one("docs/a.md", "see /ho"+"me/me/x\n"), []string{"docs/a.md:1: "}},
		{"quoted path", "foreign words", src(`const p = "/wo` + `rk/main"`), []string{"a.go:2: "}},
		{"path inside an address", "foreign words", one("a.md", "https://example.com/ho"+"me/x ./wo"+"rk/x\n"), nil},
		{"names of packages", "foreign words", one("a/package-lock.json", "x-hel"+"pers\n"), nil},
		{"papers", "foreign words", src("// sha" + "red/reference/live.md"), []string{"a.go:2: "}},
		{"registry", "foreign words", one("scripts/a.sh", "curl https://proxy.golang."+"org/x\n"), []string{":1: "}},
		{"who made it", "foreign words", src("// written by another hel" + "per"), []string{"a.go:2: "}},
		{"where it was asked for", "foreign words", src("// see the issue track" + "er"), []string{"a.go:2: "}},
		{"tools", "foreign words", one("a.md", "use the age"+"nt tools\n"), []string{"a.md:1: "}},
		{"testing's own", "foreign words", src("func f() { t.Hel" + "per() }"), nil},
	}
}
