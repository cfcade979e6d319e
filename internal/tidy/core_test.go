package tidy

import (
	"go/ast"
	"go/token"
	"strings"
)

// coreForbids are the standard packages that package petri does without: no clock, no goroutine, no I/O, no chance, no
// log. What it imports of others' and ours is settled by layers and thirdParty: nothing.
func coreForbids() []string {
	return []string{
		"context", "sync/...", "net/...", "os/...", "io/ioutil", "syscall/...", "log/...", "testing/...",
		"math/rand/...", "crypto/rand", "hash/maphash",
	}
}

// clockless are the folders that know time as a length only, tests excepted.
func clockless() []string { return []string{"petri", "audio/..."} }

// timeAsLength is what a clockless package may use of package time.
func timeAsLength() map[string]bool {
	return map[string]bool{
		"Duration": true, "ParseDuration": true, "Nanosecond": true, "Microsecond": true, "Millisecond": true,
		"Second": true, "Minute": true, "Hour": true,
	}
}

// clocked are the folders that may ask or wait for the time of day; tests may everywhere. All others get it by
// parameter.
func clocked() []string {
	return []string{
		".", "bench/...", "cmd/...", "console", "petri/runner", "live", "live/sim", "transport/...", "access", "webhook",
		"agent/adkagent",
		"agent/calls", "agent/managed", "agent/managed/api", "agent/workflow/exec", "agent/workflow/httpapi",
		"agent/provider", "agent/workflow/openapi", "journal/...",
		"internal/browsertest", "internal/npmtest", "internal/endpointtest", "internal/simulate", "web",
		"internal/durablebench",
	}
}

// clock is what of package time reads the clock or waits for it.
func clock() map[string]bool {
	return map[string]bool{
		"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true,
		"NewTimer": true, "NewTicker": true,
	}
}

// concurrent are the folders that may start goroutines; tests may everywhere.
func concurrent() []string {
	return []string{
		".", "bench/...", "cmd/...", "petri/runner", "live", "live/sim", "transport/...", "webhook", "internal/browsertest",
		"internal/npmtest", "internal/endpointtest", "internal/simulate", "verify/mutate", "voicenets/prove",
		"agent/adkagent", "agent/managed", "agent/managed/api", "agent/workflow/httpapi",
		"journal", "journal/journaltest", "journal/postgres",
		"internal/durablebench",
	}
}

func coreRules() []rule {
	return []rule{
		{name: "core imports", ofFile: shippedGo(checkCoreImports)},
		{name: "core channels", ofFile: shippedGo(checkChannels)},
		{name: "clockless", ofFile: shippedGo(checkClockless)},
		{name: "clock", ofFile: shippedGo(checkClock)},
		{name: "goroutines", ofFile: shippedGo(checkGoroutines)},
	}
}

// checkCoreImports holds package petri, not the folders in it, to the standard library without coreForbids.
func checkCoreImports(f *file) []string {
	var out []string
	for _, spec := range f.ast.Imports {
		importPath := importOf(spec)
		if f.dir() == "petri" && (!isStandard(importPath) || matches(coreForbids(), importPath)) {
			out = append(out, f.at(spec, "the core does without %s: see coreForbids() in internal/tidy/core_test.go",
				importPath))
		}
	}
	return out
}

// checkChannels refuses channels in package petri: what they are for happens around a Machine, not in it.
func checkChannels(f *file) []string {
	if f.dir() != "petri" {
		return nil
	}
	var out []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if usesChannel(n) {
			out = append(out, f.at(n, "the core has no channels: petri/runner has them"))
			return false
		}
		return true
	})
	return out
}

// usesChannel tells whether a node is a channel's type or an operation on one.
func usesChannel(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
		return true
	case *ast.UnaryExpr:
		return n.Op == token.ARROW
	}
	return false
}

// checkClockless holds clockless folders to timeAsLength.
func checkClockless(f *file) []string {
	if !matches(clockless(), f.dir()) {
		return nil
	}
	var out []string
	for _, sel := range usesOf(f, "time") {
		if !timeAsLength()[sel.Sel.Name] {
			out = append(out, f.at(sel, "time.%s: %s knows time as a length only, it enters by parameter",
				sel.Sel.Name, f.dir()))
		}
	}
	return append(out, dotImports(f, "time")...)
}

// checkClock keeps the clock in clocked folders.
func checkClock(f *file) []string {
	if matches(clocked(), f.dir()) {
		return nil
	}
	var out []string
	for _, sel := range usesOf(f, "time") {
		if clock()[sel.Sel.Name] {
			out = append(out, f.at(sel, "time.%s: take the time by parameter, or see clocked() in internal/tidy/core_test.go",
				sel.Sel.Name))
		}
	}
	return append(out, dotImports(f, "time")...)
}

// usesOf are the selections from an imported package, under whatever name the file imports it.
func usesOf(f *file, importPath string) []*ast.SelectorExpr {
	names := f.localNames(importPath)
	var out []*ast.SelectorExpr
	ast.Inspect(f.ast, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok && names[pkg.Name] {
			out = append(out, sel)
		}
		return true
	})
	return out
}

// dotImports refuses an import that would hide its uses from usesOf.
func dotImports(f *file, importPath string) []string {
	if f.localNames(importPath)["."] {
		return []string{f.atLine(1, "dot import of %s hides what it is used for", importPath)}
	}
	return nil
}

// checkGoroutines keeps goroutines in concurrent folders. A method Go, as of sync.WaitGroup, starts one too.
func checkGoroutines(f *file) []string {
	if matches(concurrent(), f.dir()) {
		return nil
	}
	var out []string
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if startsGoroutine(n) {
			out = append(out, f.at(n, "%s starts no goroutine: see concurrent() in internal/tidy/core_test.go", f.dir()))
		}
		return true
	})
	return out
}

// startsGoroutine tells a go statement, and a call of a method named Go.
func startsGoroutine(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		sel, ok := n.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Go"
	}
	return false
}

func coreBreaches() []breach {
	one := func(path string, lines ...string) map[string]string {
		return map[string]string{path: "package p\n" + strings.Join(lines, "\n") + "\n"}
	}
	imports := func(path, importPath string) map[string]string { return one(path, `import _ "`+importPath+`"`) }
	timed := func(path, expr string) map[string]string { return one(path, `import "time"`, "var x = "+expr) }
	return []breach{
		{"context", "core imports", imports("petri/a.go", "context"), []string{"context"}},
		{"atomic", "core imports", imports("petri/a.go", "sync/atomic"), []string{"sync/atomic"}},
		{"net/http", "core imports", imports("petri/a.go", "net/http"), []string{"net/http"}},
		{"os", "core imports", imports("petri/a.go", "os"), []string{"os"}},
		{"rand", "core imports", imports("petri/a.go", "math/rand/v2"), []string{"math/rand/v2"}},
		{"slog", "core imports", imports("petri/a.go", "log/slog"), []string{"log/slog"}},
		{"a module", "core imports", imports("petri/a.go", "go.uber.org/zap"), []string{"zap"}},
		{"ours", "core imports", imports("petri/a.go", module+"/audio"), []string{"audio"}},
		{"math", "core imports", imports("petri/a.go", "math/bits"), nil},
		{"core's test", "core imports", imports("petri/a_test.go", "os"), nil},
		{"below the core", "core imports", imports("petri/runner/a.go", "context"), nil},
		{"chan type", "core channels", one("petri/a.go", "type t chan int"), []string{":2:"}},
		{"send", "core channels", one("petri/a.go", "func f(c c) { c <- 1 }"), []string{":2:"}},
		{"receive", "core channels", one("petri/a.go", "func f(c c) { <-c }"), []string{":2:"}},
		{"select", "core channels", one("petri/a.go", "func f() { select {} }"), []string{":2:"}},
		{"runner's channel", "core channels", one("petri/runner/a.go", "type t chan int"), nil},
		{"time of day", "clockless", timed("petri/a.go", "time.Now()"), []string{"time.Now"}},
		{"time of day as a type", "clockless", timed("petri/a.go", "time.Time{}"), []string{"time.Time"}},
		{"timer in audio", "clockless", timed("audio/audiotest/a.go", "time.NewTimer(0)"), []string{"time.NewTimer"}},
		{"renamed", "clockless", one("audio/a.go", `import t "time"`, "var x = t.Now()"), []string{"time.Now"}},
		{"dot import", "clockless", one("audio/a.go", `import . "time"`, "var x = Now()"), []string{"dot import"}},
		{"length", "clockless", timed("audio/a.go", "20 * time.Millisecond"), nil},
		{"audio's test", "clockless", timed("audio/a_test.go", "time.Now()"), nil},
		{"sleep in a net", "clock", timed("voicenets/a.go", "time.Sleep"), []string{"time.Sleep"}},
		{"ticker in the store", "clock", timed("petri/event/a.go", "time.NewTicker(1)"), []string{"time.NewTicker"}},
		{"runner reads it", "clock", timed("petri/runner/a.go", "time.Now()"), nil},
		{"transport waits", "clock", timed("transport/rtc/a.go", "time.After(1)"), nil},
		{"a time given", "clock", timed("web/a.go", "time.Unix(0, 0)"), nil},
		{"go in the core", "goroutines", one("petri/a.go", "func f() { go f() }"), []string{":2:"}},
		{"go in audio", "goroutines", one("audio/a.go", "func f() { go f() }"), []string{"audio"}},
		{"a wait group's", "goroutines", one("web/a.go", "func f() { wg.Go(f) }"), []string{"web"}},
		{"runner's", "goroutines", one("petri/runner/a.go", "func f() { go f() }"), nil},
		{"a test's", "goroutines", one("audio/a_test.go", "func f() { go f() }"), nil},
	}
}
