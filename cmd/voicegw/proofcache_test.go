package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProofCacheTrust: a certificate is loaded by the binary that stored it, from files that nobody
// else can write.
func TestProofCacheTrust(t *testing.T) {
	root := t.TempDir()
	var warned bytes.Buffer
	c := newProofCache(root, printedNotes{&warned})
	if _, err := c.Load("a.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("of nothing: %v", err)
	}
	if err := c.Store("a.json", []byte("proof")); err != nil {
		t.Fatal(err)
	}
	dir, err := c.dir()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a.json")
	for _, test := range []struct {
		what, path string
		mode       fs.FileMode
		want       string // of the warning
	}{
		{"as stored", file, 0o600, ""},
		{"file of the group", file, 0o660, "can be written by others (mode 0660)"},
		{"file of all", file, 0o602, "can be written by others (mode 0602)"},
		{"directory of the group", dir, 0o770, "can be written by others (mode 0770)"},
		{"directory of all", dir, 0o707, "can be written by others (mode 0707)"},
	} {
		warned.Reset()
		for path, mode := range map[string]fs.FileMode{file: 0o600, dir: 0o700} {
			if path == test.path {
				mode = test.mode
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
		data, err := c.Load("a.json")
		if test.want == "" && (err != nil || string(data) != "proof" || warned.Len() > 0) {
			t.Errorf("%s: %q, %v, %s", test.what, data, err, &warned)
		}
		if test.want != "" && (!errors.Is(err, fs.ErrNotExist) || !strings.Contains(warned.String(), test.want)) {
			t.Errorf("%s: %q, %v, %s; want %q", test.what, data, err, &warned, test.want)
		}
	}
	other := &proofCache{notes: printedNotes{&warned},
		dir: func() (string, error) { return filepath.Join(root, "other"), nil }}
	if _, err := other.Load("a.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of another binary: %v", err)
	}
}

// TestProofCacheOddFiles: what is no file of ours, or too large, is neither waited for nor read.
func TestProofCacheOddFiles(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"is not a regular file": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"is too large": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, certificateMax+1))
		},
	} {
		dir := filepath.Join(t.TempDir(), "binary")
		var warned bytes.Buffer
		c := &proofCache{notes: printedNotes{&warned}, dir: func() (string, error) { return dir, nil }}
		if err := errors.Join(os.Mkdir(dir, 0o700), put(filepath.Join(dir, "a.json"))); err != nil {
			t.Fatal(err)
		}
		over := make(chan error, 1)
		go func() {
			_, err := c.Load("a.json")
			over <- err
		}()
		select {
		case err := <-over:
			if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(warned.String(), name) {
				t.Errorf("%s: %v, %s", name, err, &warned)
			}
		case <-time.After(patience):
			t.Fatalf("%s: it is waited for", name)
		}
		if err := c.Store("a.json", []byte("proof")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := c.Load("a.json"); string(data) != "proof" {
			t.Errorf("%s: stored over it: %q, %v", name, data, err)
		}
	}
}

// TestProofCacheLimit: only so many binaries keep their certificates, the latest ones.
func TestProofCacheLimit(t *testing.T) {
	root := t.TempDir()
	for i := range binariesMax + 3 {
		dir := filepath.Join(root, fmt.Sprint(i))
		c := &proofCache{notes: printedNotes{new(bytes.Buffer)}, dir: func() (string, error) { return dir, nil }}
		if err := c.Store("a.json", nil); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadDir(root)
	if err != nil || len(kept) != binariesMax || kept[len(kept)-1].Name() != fmt.Sprint(binariesMax+2) {
		t.Errorf("%v: %v", kept, err)
	}
}
