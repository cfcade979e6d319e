package tidy

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

func docsRules() []rule {
	return []rule{
		{name: "links", ofTree: checkLinks},
		{name: "commands", ofTree: checkCommands},
		{name: "targets", ofTree: checkTargets},
		{name: "layout", ofTree: checkLayout},
		{name: "scripts", ofTree: checkScripts},
	}
}

// find is the file of a path, nil when there is none.
func (t *tree) find(name string) *file {
	for _, f := range t.files {
		if f.path == name {
			return f
		}
	}
	return nil
}

// documents are the tree's Markdown files.
func (t *tree) documents() []*file {
	var out []*file
	for _, f := range t.files {
		if path.Ext(f.path) == ".md" {
			out = append(out, f)
		}
	}
	return out
}

// checkLinks wants every relative link and picture of a document to lead to a file of the tree, and a link's fragment
// to one of its headings.
func checkLinks(t *tree) []string {
	link := regexp.MustCompile(`\]\(<?([^)\s>]+)>?[^)]*\)|(?:src|href)="([^"]+)"|^\[[^\]]+\]:\s+(\S+)`)
	var out []string
	for _, f := range t.documents() {
		for i, line := range prose(f) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if target := m[1] + m[2] + m[3]; !t.resolves(f, target) {
					out = append(out, f.atLine(i+1, "link to %s leads nowhere", target))
				}
			}
		}
	}
	return out
}

// resolves tells whether a link in a document leads somewhere. Absolute addresses are not followed.
func (t *tree) resolves(from *file, target string) bool {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return true
	}
	name, fragment, _ := strings.Cut(target, "#")
	to := from
	if name != "" {
		full := path.Join(from.dir(), name)
		if _, ok := t.paths[full]; !ok {
			return false
		}
		to = t.find(full)
	}
	if fragment == "" || to == nil || path.Ext(to.path) != ".md" {
		return true
	}
	return slices.Contains(headings(to), fragment)
}

// headings are the fragments that lead to a document's headings, as forges make them.
func headings(f *file) []string {
	var out []string
	seen := map[string]int{}
	for _, line := range split(f, outside) {
		title := strings.TrimLeft(line, "#")
		if title == line || !strings.HasPrefix(title, " ") {
			continue
		}
		name := slug(title)
		if n := seen[name]; n > 0 {
			out = append(out, fmt.Sprintf("%s-%d", name, n))
		} else {
			out = append(out, name)
		}
		seen[name]++
	}
	return out
}

// slug is a heading in lower case, without punctuation, and with hyphens for spaces.
func slug(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(title))
}

// prose is a document's lines with code emptied: fenced, indented, and between backquotes.
func prose(f *file) []string {
	inline := regexp.MustCompile("`[^`]*`")
	return split(f, func(line string, code bool) string {
		return inline.ReplaceAllString(outside(line, code), "")
	})
}

// code is a document's lines with everything but code emptied.
func code(f *file) []string {
	inline := regexp.MustCompile("`[^`]*`")
	return split(f, func(line string, code bool) string {
		if code {
			return line
		}
		return strings.Join(inline.FindAllString(line, -1), "\n")
	})
}

// outside keeps a line that is not in a block of code.
func outside(line string, code bool) string {
	if code {
		return ""
	}
	return line
}

// split maps a document's lines, telling for each whether it stands in a block of code.
func split(f *file, line func(line string, code bool) string) []string {
	var out []string
	fenced, blank, block := false, true, false
	for _, l := range f.lines() {
		fence := strings.HasPrefix(strings.TrimSpace(l), "```")
		fenced = fenced != fence
		indented := strings.HasPrefix(l, "    ") || strings.HasPrefix(l, "\t")
		block = indented && (blank || block)
		blank = strings.TrimSpace(l) == ""
		out = append(out, line(l, fenced || fence || block))
	}
	return out
}

// checkCommands wants every `make X` in a document's code to be a target, and a README to name any.
func checkCommands(t *tree) []string {
	command := regexp.MustCompile("(?:^|[\\s`;&|])make ((?:[A-Za-z0-9_]+=\\S+ )*)([a-z][a-z0-9-]*)")
	readme := t.find("README.md")
	if readme == nil {
		return []string{"README.md:1: there is none"}
	}
	known := targets(t)
	var out []string
	for _, f := range t.documents() {
		for i, line := range code(f) {
			for _, m := range command.FindAllStringSubmatch(line, -1) {
				if _, ok := known[m[2]]; !ok {
					out = append(out, f.atLine(i+1, "make %s: the Makefile has no such target", m[2]))
				}
			}
		}
	}
	return out
}

// targets are the Makefile's, each with the words that `make help` prints about it.
func targets(t *tree) map[string]string {
	out := map[string]string{}
	if f := t.find("Makefile"); f != nil {
		target := regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):([^=\n#]*)(?:## *(.*))?$`)
		for _, m := range target.FindAllStringSubmatch(string(f.src), -1) {
			out[m[1]] = m[3]
		}
	}
	return out
}

// checkTargets wants every target of the Makefile to be explained by `make help` and declared phony.
func checkTargets(t *tree) []string {
	f := t.find("Makefile")
	if f == nil {
		return []string{"Makefile:1: there is none"}
	}
	phony := map[string]bool{}
	for _, line := range f.lines() {
		if names, ok := strings.CutPrefix(line, ".PHONY:"); ok {
			for _, name := range strings.Fields(names) {
				phony[name] = true
			}
		}
	}
	var out []string
	for name, help := range targets(t) {
		if help == "" {
			out = append(out, fmt.Sprintf("Makefile: target %s has no `## what it does`", name))
		}
		if !phony[name] {
			out = append(out, fmt.Sprintf("Makefile: target %s is not in .PHONY", name))
		}
	}
	return out
}

// layoutDocument says what each folder is for.
const layoutDocument = "docs/development.md"

// checkLayout wants a line about each folder of Go code in the layout table of layoutDocument: a row that begins with
// the folder between backquotes and ends with what layers grants it.
func checkLayout(t *tree) []string {
	f := t.find(layoutDocument)
	if f == nil {
		return []string{layoutDocument + ":1: there is none"}
	}
	row := regexp.MustCompile("^\\| `([^`]+)` \\|.*\\| ([^|]+) \\|$")
	rows := map[string]string{}
	for _, line := range f.lines() {
		if m := row.FindStringSubmatch(line); m != nil {
			rows[m[1]] = m[2]
		}
	}
	dirs := map[string]bool{}
	for _, g := range t.files {
		if g.isGo() {
			dirs[g.dir()] = true
		}
	}
	var out []string
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		shown, ok := rows[dir]
		own, _ := layerOf(dir)
		switch want := own.String(); {
		case !ok:
			out = append(out, fmt.Sprintf("%s: the layout table has no row for `%s`", layoutDocument, dir))
		case shown != want:
			out = append(out, fmt.Sprintf("%s: the row for `%s` grants %s; layers() grants %s", layoutDocument, dir, shown,
				want))
		}
	}
	return out
}

// String is the third column of the layout table.
func (l layer) String() string {
	switch {
	case len(l.imports) == 0:
		return "none"
	case slices.Equal(l.imports, []string{"..."}):
		return "everything"
	}
	return "`" + strings.Join(l.imports, "`, `") + "`"
}

// checkScripts wants shell scripts that can be started and that stop at the first error.
func checkScripts(t *tree) []string {
	var out []string
	for _, f := range t.files {
		if path.Ext(f.path) != ".sh" && f.dir() != ".ci" {
			continue
		}
		if t.paths[f.path]&fs.ModePerm&0o100 == 0 {
			out = append(out, f.atLine(1, "not executable: chmod +x"))
		}
		if !strings.Contains(string(f.src), "\nset -euo pipefail\n") {
			out = append(out, f.atLine(1, "no `set -euo pipefail`"))
		}
	}
	return out
}

func docsBreaches() []breach {
	one := func(path, src string) map[string]string { return map[string]string{path: src} }
	readme := func(text string) map[string]string {
		return map[string]string{"README.md": text, "Makefile": "test: deps ## run\n", "docs/a.md": "# One: two\n"}
	}
	layout := func(row string) map[string]string {
		return map[string]string{layoutDocument: row, "audio/a.go": "package audio\n"}
	}
	script := func(path string) map[string]string { return one(path, "#!/bin/sh\nset -euo pipefail\n") }
	return []breach{
		{"missing file", "links", readme("x\n[a](docs/b.md)\n"), []string{"README.md:2: link to docs/b.md"}},
		{"missing picture", "links", readme(`<img src="docs/a.png">`), []string{"docs/a.png"}},
		{"missing heading", "links", readme("[a](docs/a.md#three)\n"), []string{"#three"}},
		{"missing reference", "links", readme("[a]: docs/b.md\n"), []string{"docs/b.md"}},
		{"out of the tree", "links", one("docs/a.md", "[a](../../x.md)\n"), []string{"../../x.md"}},
		{"there", "links", readme("[a](docs/a.md#one-two), [b](docs), [c](https://example.com/x)\n"), nil},
		{"own heading", "links", readme("# A b\n# It's `c`\n[a](#a-b) [c](#its-c)\n"), nil},
		{"second of the same", "links", readme("# A\n# A\n[a](#a-1)\n"), nil},
		{"code", "links", readme("`[a](b.md)`\n\n    x[1](2)\n\n```\nx[1](2)\n```\n"), nil},
		{"no such target", "commands", readme("Run `make tests`.\n"), []string{"make tests"}},
		{"in a block", "commands", readme("```\nFUZZTIME=1s make fuzz\n```\n"), []string{"make fuzz"}},
		{"with a variable", "commands", readme("\n    make X=1 fuzz\n"), []string{"make fuzz"}},
		{"target", "commands", readme("`make test`, or just `make`; make sure\n"), nil},
		{"no README", "commands", one("Makefile", "test: ## run\n"), []string{"there is none"}},
		{"unexplained", "targets", one("Makefile", ".PHONY: a\na: b\nX ?= 1\n"), []string{"no `## what"}},
		{"not phony", "targets", one("Makefile", "a: b ## does\n"), []string{".PHONY"}},
		{"explained", "targets", one("Makefile", ".PHONY: a\nX := y\na: b ## does\n\techo a: b\n"), nil},
		{"no row", "layout", layout("| `audio/x` | y | none |\n"), []string{"`audio`"}},
		{"row", "layout", layout("| `audio` | y | none |\n"), nil},
		{"row that grants more", "layout", layout("| `audio` | y | `petri` |\n"),
			[]string{"grants `petri`; layers() grants none"}},
		{"no table", "layout", one("a.go", "package p\n"), []string{"there is none"}},
		{"not executable", "scripts", script("scripts/a.sh"), []string{"chmod"}},
		{"careless", "scripts", one("x.sh", "#!/bin/sh\n"), []string{"pipefail", "chmod"}},
		{"not a script", "scripts", one("x.go", "package p\n"), nil},
	}
}
