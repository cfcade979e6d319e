package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// module is the path of go.mod: the prefix of the imports that are our own.
const module = "github.com/voicegw/voicegw"

// A tree is every text file of the repository.
type tree struct {
	files []*file
	paths map[string]fs.FileMode // everything there is, folders too, by slash path relative to the root
}

// A file is one text file of the tree. The Go parts are nil in any other.
type file struct {
	path string // relative to the root, with slashes
	src  []byte
	fset *token.FileSet
	ast  *ast.File
}

// dir is the file's folder, "." at the root.
func (f *file) dir() string { return path.Dir(f.path) }

// isGo tells whether the file was parsed as Go.
func (f *file) isGo() bool { return f.ast != nil }

// isTest tells whether the file is compiled into tests only.
func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// lines are the file's lines without their ends.
func (f *file) lines() []string {
	return strings.Split(strings.TrimSuffix(string(f.src), "\n"), "\n")
}

// at is a complaint about a place in a Go file.
func (f *file) at(n ast.Node, format string, args ...any) string {
	return f.atLine(f.fset.Position(n.Pos()).Line, format, args...)
}

// atLine is a complaint about a line, counted from 1.
func (f *file) atLine(line int, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.path, line, fmt.Sprintf(format, args...))
}

// localNames are the names under which the file knows an import: none, one, or with an alias another.
func (f *file) localNames(importPath string) map[string]bool {
	names := map[string]bool{}
	for _, spec := range f.ast.Imports {
		if importOf(spec) != importPath {
			continue
		}
		name := path.Base(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = true
	}
	return names
}

// importOf is an import's path without its quotes.
func importOf(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// parse makes a file from source, as the negative tests do.
func parse(name string, src []byte) (*file, error) {
	f := &file{path: name, src: src, fset: token.NewFileSet()}
	if path.Ext(name) != ".go" {
		return f, nil
	}
	var err error
	f.ast, err = parser.ParseFile(f.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	return f, err
}

// load reads the tree under root.
func load(root string) (*tree, error) {
	t := &tree{paths: map[string]fs.FileMode{}}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return t.visit(name, filepath.ToSlash(rel), d)
	})
	return t, err
}

// visit takes one entry of the walk into the tree.
func (t *tree) visit(name, rel string, d fs.DirEntry) error {
	if foreign(rel, d) {
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	t.paths[rel] = info.Mode()
	if !info.Mode().IsRegular() || info.Size() > fileSizeMax {
		return nil
	}
	src, err := os.ReadFile(name)
	if err != nil || bytes.IndexByte(src, 0) >= 0 {
		return err
	}
	f, err := parse(rel, src)
	if err != nil {
		return err
	}
	t.files = append(t.files, f)
	return nil
}

// fileSizeMax bounds what is read as text; a larger file is a recording or a picture.
const fileSizeMax = 1 << 20

// foreign tells what is not the repository's: see .gitignore. Findings of the fuzzer are bytes, not text.
func foreign(rel string, d fs.DirEntry) bool {
	base := path.Base(rel)
	if d.IsDir() {
		hidden := strings.HasPrefix(base, ".") && rel != "." && base != ".ci"
		return hidden || rel == "bin" || base == "node_modules" || base == "dist" || strings.HasSuffix(rel, "testdata/fuzz")
	}
	switch path.Ext(base) {
	case ".git", ".out", ".prof", ".test", ".swp", ".env", ".DS_Store": // .git is a file in a worktree
		return true
	}
	return strings.HasSuffix(base, ".local.yaml")
}

// repository is the tree that this test stands in.
func repository(t *testing.T) *tree {
	t.Helper()
	tr, err := load(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.files) < 5 || tr.paths["go.mod"] == 0 {
		t.Fatalf("read %d files and no go.mod: not the repository", len(tr.files))
	}
	return tr
}

// treeOf is a tree of the sources given by path, none of them executable.
func treeOf(t *testing.T, sources map[string]string) *tree {
	t.Helper()
	tr := &tree{paths: map[string]fs.FileMode{".": fs.ModeDir | 0o755}}
	for name, src := range sources {
		f, err := parse(name, []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		tr.files = append(tr.files, f)
		tr.paths[name] = 0o644
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			tr.paths[dir] = fs.ModeDir | 0o755
		}
	}
	return tr
}
