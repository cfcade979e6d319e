package tidy

import (
	"bytes"
	"go/ast"
	"go/format"
	"path"
	"strings"
	"unicode/utf8"
)

const (
	functionLinesMax     = 70
	testFunctionLinesMax = 120
	fileLinesMax         = 500 // tests excepted
	lineRunesMax         = 120 // a tab is one
	importGroupsMax      = 3   // standard library, others', ours
)

func shapeRules() []rule {
	return []rule{
		{name: "function length", ofFile: goFiles(checkFunctions)},
		{name: "file length", ofFile: checkFileLength},
		{name: "line length", ofFile: goFiles(checkLines)},
		{name: "gofmt", ofFile: goFiles(checkFormat)},
		{name: "import groups", ofFile: goFiles(checkGroups)},
	}
}

// checkFunctions bounds functions, and function values outside any.
func checkFunctions(f *file) []string {
	limit := functionLinesMax
	if f.isTest() {
		limit = testFunctionLinesMax
	}
	var out []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		name, is := functionName(n)
		if !is {
			return true
		}
		if lines := f.lineCount(n); lines > limit {
			out = append(out, f.at(n, "%s has %d lines, at most %d: parents branch, leaves compute", name, lines, limit))
		}
		return false
	})
	return out
}

// functionName tells a function and what to call it.
func functionName(n ast.Node) (name string, is bool) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Name.Name, true
	case *ast.FuncLit:
		return "func", true
	}
	return "", false
}

// lineCount is how many lines a node touches.
func (f *file) lineCount(n ast.Node) int {
	return f.fset.Position(n.End()).Line - f.fset.Position(n.Pos()).Line + 1
}

// checkFileLength bounds source files. Tests, documents and fixtures may be as long as they like.
func checkFileLength(f *file) []string {
	switch path.Ext(f.path) {
	case ".go", ".js", ".mjs", ".ts", ".css", ".html", ".sh":
	default:
		return nil
	}
	if f.isTest() || isScriptTest(f.path) || len(f.lines()) <= fileLinesMax {
		return nil
	}
	return []string{f.atLine(len(f.lines()), "at most %d lines: look for the second noun", fileLinesMax)}
}

// isScriptTest tells tests in JavaScript and whatever serves tests only.
func isScriptTest(name string) bool {
	return strings.Contains(path.Base(name), ".test.") || strings.Contains(name, "testdata/")
}

// checkLines bounds lines. Directives and lines of one unbroken word, such as an address, cannot be broken.
func checkLines(f *file) []string {
	var out []string
	for i, line := range f.lines() {
		words := strings.Fields(strings.TrimLeft(line, "\t /"))
		if utf8.RuneCountInString(line) > lineRunesMax && len(words) > 1 && !strings.HasPrefix(line, "//go:") {
			out = append(out, f.atLine(i+1, "%d characters, at most %d", utf8.RuneCountInString(line), lineRunesMax))
		}
	}
	return out
}

// checkFormat wants what gofmt would write.
func checkFormat(f *file) []string {
	formatted, err := format.Source(f.src)
	if err == nil && bytes.Equal(formatted, f.src) {
		return nil
	}
	return []string{f.atLine(1, "not as gofmt writes it: make fmt")}
}

// checkGroups bounds the groups of imports: runs of lines without an empty one between them.
func checkGroups(f *file) []string {
	groups, last := 0, -1
	for _, spec := range f.ast.Imports {
		first := spec.Pos()
		if spec.Doc != nil {
			first = spec.Doc.Pos()
		}
		if f.fset.Position(first).Line > last+1 {
			groups++
		}
		last = f.fset.Position(spec.End()).Line
	}
	if groups <= importGroupsMax {
		return nil
	}
	return []string{f.at(f.ast.Imports[0], "imports in %d groups, at most %d", groups, importGroupsMax)}
}

func shapeBreaches() []breach {
	one := func(path, src string) map[string]string { return map[string]string{path: src} }
	function := func(lines int) string {
		return "package p\n\nfunc f() {\n" + strings.Repeat("\tf()\n", lines-2) + "}\n"
	}
	literal := "package p\n\nvar f = func() {\n" + strings.Repeat("\tg()\n", functionLinesMax) + "}\n"
	comments := func(n int) string { return strings.Repeat("// x\n", n-1) + "package p\n" }
	wide := func(n int) string { return "package p\n\n// a " + strings.Repeat("é", n-5) + "\n" }
	const grouped = "package p\n\nimport (\n\t\"a\"\n\n\t\"b\"\n\n\t\"c\"\n"
	return []breach{
		{"long", "function length", one("a.go", function(71)), []string{"f has 71 lines"}},
		{"just right", "function length", one("a.go", function(70)), nil},
		{"long test", "function length", one("a_test.go", function(121)), []string{"at most 120"}},
		{"just right test", "function length", one("a_test.go", function(120)), nil},
		{"long value", "function length", one("a.go", literal), []string{"func has 72 lines"}},
		{"long file", "file length", one("a.go", comments(501)), []string{"at most 500"}},
		{"long module", "file length", one("web/a.js", comments(501)), []string{"at most 500"}},
		{"just right file", "file length", one("a.go", comments(500)), nil},
		{"long test file", "file length", one("a_test.go", comments(501)), nil},
		{"long script test", "file length", one("web/a.test.js", comments(501)), nil},
		{"long document", "file length", one("docs/a.md", comments(501)), nil},
		{"wide", "line length", one("a.go", wide(121)), []string{"a.go:3: 121 characters"}},
		{"just right line", "line length", one("a.go", wide(120)), nil},
		{"an address", "line length", one("a.go", "package p\n\n// https://"+strings.Repeat("x", 120)+"\n"), nil},
		{"unformatted", "gofmt", one("a.go", "package p\nvar  x int\n"), []string{"make fmt"}},
		{"formatted", "gofmt", one("a.go", "package p\n\nvar x int\n"), nil},
		{"four groups", "import groups", one("a.go", grouped+"\n\t\"d\"\n)\n"), []string{"4 groups"}},
		{"three groups", "import groups", one("a.go", grouped+")\n"), nil},
		{"a comment in a group", "import groups", one("a.go", grouped+"\t// why\n\t\"d\"\n)\n"), nil},
	}
}
