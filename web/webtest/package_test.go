package webtest_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw/internal/npmtest"
)

// npmTimeout bounds one run of npm.
const npmTimeout = time.Minute

// npmPackage is the npm package, installed in a project beside which tests write their modules.
type npmPackage struct {
	modules string            // the folder node_modules with the package
	files   map[string]string // of the package, by their paths in it
}

// packed makes and installs the package once for all tests.
var packed = sync.OnceValues(func() (npmPackage, error) {
	project := filepath.Join(sharedDir, "project")
	if err := os.Mkdir(project, 0o755); err != nil {
		return npmPackage{}, err
	}
	if err := npm("../client", "pack", "--ignore-scripts", "--pack-destination", project); err != nil {
		return npmPackage{}, err
	}
	archives, err := filepath.Glob(filepath.Join(project, "voicegw-*.tgz"))
	if err != nil || len(archives) != 1 {
		return npmPackage{}, fmt.Errorf("npm pack made %v", archives)
	}
	if err := npm(project, "init", "--yes"); err != nil {
		return npmPackage{}, err
	}
	if err := npm(project, "install", "--no-audit", "--no-fund", archives[0]); err != nil {
		return npmPackage{}, err
	}
	files, err := unpack(archives[0])
	return npmPackage{modules: filepath.Join(project, "node_modules"), files: files}, err
})

// npm runs npm in a folder, without the network.
func npm(dir string, args ...string) error {
	program, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("npm is not installed: run make deps")
	}
	ctx, cancel := context.WithTimeout(context.Background(), npmTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append(args, "--offline")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(sharedDir, "npm"), "npm_config_update_notifier=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// pack returns the npm package.
func pack(t *testing.T) npmPackage {
	t.Helper()
	p, err := packed()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// write writes a module of the project and returns its path. Tests that run at the same time use
// different names.
func (p npmPackage) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(p.modules), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// unpack reads the files of an npm package, by their paths in it.
func unpack(archive string) (map[string]string, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files[strings.TrimPrefix(h.Name, "package/")] = string(text)
	}
}

// references are the files that a module names: imports, and addresses of its own folder.
func references(text string) []string {
	var out []string
	named := regexp.MustCompile(`(?:from|import|new URL\()\s*\(?"\./([^"]+\.js)"`)
	for _, m := range named.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestPackage: the npm package has what its entries need, their types, and nothing else; its version
// is the newest of its changelog.
func TestPackage(t *testing.T) {
	t.Parallel()
	files := pack(t).files
	want := []string{"CHANGELOG.md", "LICENSE", "README.md", "package.json"}
	var todo []string
	for _, entry := range entries {
		want, todo = append(want, entry+".d.ts"), append(todo, entry+".js")
	}
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if slices.Contains(want, name) {
			continue
		}
		want = append(want, name)
		todo = append(todo, references(files[name])...)
	}
	slices.Sort(want)
	var got []string
	for name := range files {
		got = append(got, name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the package has\n%v, want\n%v", got, want)
	}
	license, err := os.ReadFile("../../LICENSE")
	if err != nil || files["LICENSE"] != string(license) {
		t.Errorf("the license is another one than the repository's: %v", err)
	}
	var meta struct {
		Name, Version, Main, Types, License, Type string
		Dependencies                              map[string]string
		SideEffects                               []string
	}
	if err := json.Unmarshal([]byte(files["package.json"]), &meta); err != nil {
		t.Fatal(err)
	}
	if meta.Name != "voicegw" || files[path.Clean(meta.Main)] == "" || files[path.Clean(meta.Types)] == "" ||
		meta.Type != "module" || meta.License != "Apache-2.0" || len(meta.Dependencies) != 0 {
		t.Errorf("package.json says %+v", meta)
	}
	if !slices.Contains(meta.SideEffects, "./element.js") {
		t.Error("a bundler may leave out the element: package.json says that importing it does nothing")
	}
	newest := regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`).FindStringSubmatch(files["CHANGELOG.md"])
	if newest == nil || newest[1] != meta.Version {
		t.Errorf("package.json has version %s, the changelog begins with %v", meta.Version, newest)
	}
}

// entries are the modules that other programs import, and name without their folder.
var entries = []string{"index", "react", "element"}

// TestExports: each entry exports what its types declare, and nothing else, also in node, as a server
// imports it that renders a page.
func TestExports(t *testing.T) {
	t.Parallel()
	p := packWithReact(t)
	declared := regexp.MustCompile(`(?m)^export (?:declare )?(?:class|const|function) (\w+)`)
	for _, entry := range entries {
		var want []string
		for _, m := range declared.FindAllStringSubmatch(p.files[entry+".d.ts"], -1) {
			want = append(want, m[1])
		}
		name := strings.TrimSuffix("voicegw/"+entry, "/index")
		program := npmtest.Start(t, p.write(t, "exports-"+entry+".mjs", `import * as entry from "`+name+`";
			console.log(JSON.stringify({ type: "exports", text: Object.keys(entry).sort().join() }));`))
		slices.Sort(want)
		if got := program.AwaitType("exports").Text; got != strings.Join(want, ",") {
			t.Errorf("%s exports %s, its types %s", name, got, want)
		}
		program.Wait()
	}
}
