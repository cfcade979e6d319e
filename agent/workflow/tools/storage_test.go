//go:build unix

package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/voicegw/voicegw/agent/managed"
)

func args(action, path string, data any) map[string]any {
	a := map[string]any{"action": action, "path": path}
	if data != nil {
		a["data"] = data
	}
	return a
}

func TestStorage(t *testing.T) {
	root := t.TempDir()
	k := newKit(t, folder(t, root, 0))
	const odd = "{ \"a\":1 }\r\n" // which is kept as it is
	if r := k.call(t, "storage", args("write", "a/b/c.json", odd)); r["status"] != "success" || r["bytes"] != 11.0 {
		t.Errorf("%v", r)
	}
	if r := k.call(t, "storage", args("read", "a/b/c.json", nil)); r["content"] != odd {
		t.Errorf("%v", r)
	}
	k.call(t, "storage", args("append", "a/b/c.json", "more"))
	k.call(t, "storage", args("append", "new", "first"))
	k.call(t, "storage", args("append", "new", ""))
	if r := k.call(t, "storage", args("read", "a/b/c.json", nil)); r["content"] != odd+"more" {
		t.Errorf("%v", r)
	}
	k.call(t, "storage", args("write", "new", map[string]any{"x": 1.0}))
	if r := k.call(t, "storage", args("read", "new", nil)); r["content"] != `{"x":1}` {
		t.Errorf("%v", r)
	}
	k.fails(t, "storage", args("read", "none", nil), `there is no file "none"`)
	k.fails(t, "storage", args("read", "a", nil), "no file")
	k.fails(t, "storage", args("write", "a", "x"), "is a directory")
	k.fails(t, "storage", args("write", "new", nil), "data is missing: what to write")
	k.fails(t, "storage", args("delete", "new", nil), `the action is "delete"`)
	if err := os.WriteFile(filepath.Join(root, "binary"), []byte{0xff}, 0o600); err != nil {
		t.Fatal(err)
	}
	k.fails(t, "storage", args("read", "binary", nil), "is no text")
	if left, _ := filepath.Glob(filepath.Join(root, tempPrefix+"*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if newKit(t, Config{})["storage"].Call != nil {
		t.Error("there is storage without a folder")
	}
	for path, quota := range map[string]int64{"none": 0, "new": 0, ".": -1} {
		if _, err := OpenFolder(filepath.Join(root, path), quota); err == nil {
			t.Errorf("%s with %d bytes is accepted", path, quota)
		}
	}
}

// TestStorageEscape lets no path, no link and no special file lead out of the folder.
func TestStorageEscape(t *testing.T) {
	outside, root := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"file": secret, "dir": outside, "up": "../" + filepath.Base(outside),
		"dangling": filepath.Join(outside, "fresh"), "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKit(t, folder(t, root, 0))
	paths := []string{"../secret", "a/../../secret", secret, "/etc/passwd", "..", ".", "", "a//b", "./a", "a/",
		"a\\..\\b", "c:x",
		"a\x00b", "\xff", tempPrefix + "x", "a/" + tempPrefix, strings.Repeat("n", 201), strings.Repeat("n/", 300) + "n",
		"file", "dir/secret", "up/secret", "dangling", "loop", "dir/fresh", "up/fresh", "pipe", "pipe/x", "dir/sub/fresh"}
	for _, path := range paths {
		for _, action := range []string{"read", "write", "append"} {
			r := k.call(t, "storage", args(action, path, "changed"))
			if r["status"] != "error" || strings.Contains(fmt.Sprint(r), "s3cret") ||
				strings.Contains(r["error"].(string), outside) && path != secret {
				t.Errorf("%s %.40q: %v", action, path, r)
			}
		}
	}
	b, err := os.ReadFile(secret)
	list, _ := os.ReadDir(outside)
	if err != nil || string(b) != "s3cret" || len(list) != 1 {
		t.Errorf("outside are %q with %q, %v", list, b, err)
	}
}

func TestStorageQuota(t *testing.T) {
	root := t.TempDir()
	k := newKit(t, folder(t, root, 100))
	half := strings.Repeat("x", 50)
	k.call(t, "storage", args("write", "a", half))
	k.call(t, "storage", args("append", "b", half))
	k.fails(t, "storage", args("append", "b", "1"),
		"the quota is 100 bytes, of which 100 are used: there is no room for 1 more")
	k.fails(t, "storage", args("write", "c", "1"), "the quota is 100 bytes")
	k.fails(t, "storage", args("write", "a", half+"1"), "the quota is 100 bytes")
	if r := k.call(t, "storage", args("write", "a", half[1:])); r["status"] != "success" {
		t.Errorf("less than before: %v", r)
	}
	if r := k.call(t, "storage", args("append", "b", "1")); r["status"] != "success" {
		t.Errorf("what fits: %v", r)
	}
	k = newKit(t, folder(t, t.TempDir(), 0))
	big := strings.Repeat("0123456789", 1<<20)
	if r := k.call(t, "storage", args("write", "big", big)); r["status"] != "success" {
		t.Errorf("10 MB: %.200v", r)
	}
	if r := k.call(t, "storage", args("read", "big", nil)); r["content"] != big {
		t.Error("10 MB are read otherwise than written")
	}
	k.fails(t, "storage", args("append", "big", big), "would have 20971520 bytes; at most 16777216")
	k.fails(t, "storage", args("write", "other", big+big), "would have 20971520 bytes; at most 16777216")
}

// TestStorageAppends loses nothing of what is appended at once.
func TestStorageAppends(t *testing.T) {
	k := newKit(t, folder(t, t.TempDir(), 0))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 25 {
				_, _ = k["storage"].Call(context.Background(), managed.ToolCall{Args: args("append", "log",
					fmt.Sprintf("%d-%02d %s\n", i, j, strings.Repeat("x", 100)))})
			}
		})
	}
	all.Wait()
	r := k.call(t, "storage", args("read", "log", nil))
	lines := strings.Split(strings.TrimSpace(r["content"].(string)), "\n")
	slices.Sort(lines)
	if len(slices.Compact(lines)) != 200 || slices.ContainsFunc(lines, func(s string) bool { return len(s) != 105 }) {
		t.Errorf("there are %d lines", len(lines))
	}
}

// TestStorageLeftovers removes what a killed process was writing.
func TestStorageLeftovers(t *testing.T) {
	root := t.TempDir()
	left := filepath.Join(root, tempPrefix+"old")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	newKit(t, folder(t, root, 0))
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
}

// FuzzPath holds that no path leads out of the folder.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"a", "../a", "/a", "a/../b", "a\\b", "", ".", "link/x"} {
		f.Add(s)
	}
	parent := f.TempDir()
	root := filepath.Join(parent, "root")
	if err := errors.Join(os.Mkdir(root, 0o700), os.Symlink("..", filepath.Join(root, "link"))); err != nil {
		f.Fatal(err)
	}
	k := newKit(f, folder(f, root, 0))
	f.Fuzz(func(t *testing.T, path string) {
		k.call(t, "storage", args("write", path, "x"))
		if list, err := os.ReadDir(parent); err != nil || len(list) != 1 {
			t.Errorf("%q writes outside: %v, %v", path, list, err)
		}
	})
}
