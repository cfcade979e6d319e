package npmtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Bundle makes one script for a browser of a module and all that it imports of npm's packages.
func Bundle(tb testing.TB, module string) []byte {
	tb.Helper()
	modules := filepath.Join(packages(tb), "node_modules")
	var stderr bytes.Buffer
	program := filepath.Join(modules, ".bin", "esbuild")
	cmd := exec.Command(program, module, "--bundle", "--format=iife", "--log-level=error")
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("npmtest: bundle %s: %v\n%s", module, err, stderr.String())
	}
	return out
}

// Source returns a file of one of npm's packages, such as "axe-core/axe.min.js".
func Source(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join(packages(tb), "node_modules", name))
	if err != nil {
		tb.Fatalf("npmtest: read %s: %v", name, err)
	}
	return text
}

// Link makes npm's packages importable from the folder node_modules of a project.
func Link(tb testing.TB, modules string, names ...string) {
	tb.Helper()
	for _, name := range names {
		link := filepath.Join(modules, name)
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(packages(tb), "node_modules", name), link); err != nil {
			tb.Fatal(err)
		}
	}
}

// Build has Vite build the app of a folder into its folder dist.
func Build(tb testing.TB, app string) {
	tb.Helper()
	program := filepath.Join(packages(tb), "node_modules", "vite", "bin", "vite.js")
	cmd := exec.Command("node", program, "build", "--logLevel", "warn")
	cmd.Dir = app
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		tb.Fatalf("npmtest: build %s: %v\n%s", app, err, out)
	}
}

// CheckTypes has TypeScript read files, as strictly as it can, among the modules of a folder named
// node_modules beside them. It fails with what TypeScript says.
func CheckTypes(tb testing.TB, files ...string) {
	tb.Helper()
	checkTypes(tb, append([]string{"--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"}, files...)...)
}

// CheckClients has TypeScript read scripts that use npm's packages. It takes the types of those
// packages as they are.
func CheckClients(tb testing.TB, scripts ...string) {
	tb.Helper()
	dir, options := tb.TempDir(), []string{"--skipLibCheck"}
	if err := os.Symlink(filepath.Join(packages(tb), "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		tb.Fatal(err)
	}
	for i, script := range scripts {
		file := filepath.Join(dir, fmt.Sprintf("client%d.mts", i))
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			tb.Fatal(err)
		}
		options = append(options, file)
	}
	checkTypes(tb, options...)
}

// CheckProject has TypeScript check the project of a tsconfig.json, which says that no output is
// wanted.
func CheckProject(tb testing.TB, config string) {
	tb.Helper()
	runTypeScript(tb, "--project", config)
}

// checkTypes runs TypeScript without output and fails with what it says.
func checkTypes(tb testing.TB, options ...string) {
	tb.Helper()
	runTypeScript(tb, append([]string{"--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom",
		"--module", "nodenext"}, options...)...)
}

func runTypeScript(tb testing.TB, options ...string) {
	tb.Helper()
	program := filepath.Join(packages(tb), "node_modules", "typescript", "bin", "tsc")
	if out, err := exec.Command("node", append([]string{program}, options...)...).CombinedOutput(); err != nil {
		tb.Errorf("npmtest: check types: %v\n%s", err, out)
	}
}
