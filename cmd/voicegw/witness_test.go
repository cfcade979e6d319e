package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/voicegw/voicegw/petri/petritest"
	"github.com/voicegw/voicegw/verify/witness"
)

// TestVerifyKeeps writes the run that refutes a property of a file as a test that passes, and as drawings.
func TestVerifyKeeps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		file       string
		properties []string // the frames are those of the first refuted one
		frames     []int    // how many places each draws as marked
	}{
		{"crossing_2.net", []string{"deadlock-free", "never on_1 >= 1", "never open >= 1"},
			[]int{4, 6, 5, 5, 5, 4}},
		{"mutex.pnml", []string{"bound rest <= 2"}, []int{2}},
		{"tie.net", []string{"deadlock-free"}, []int{1, 1}},
	} {
		t.Run(test.file, func(t *testing.T) {
			dir := t.TempDir()
			script, frames := filepath.Join(dir, "script"), filepath.Join(dir, "new", "frames")
			args := []string{"verify", testNet(test.file), "--script", script, "--frames", frames}
			for _, p := range test.properties {
				args = append(args, "--property", p)
			}
			command(t, nil, args...).want(t, 1, script+" is the run", frames+" shows the run")
			n, err := readNet(testNet(test.file))
			if err != nil {
				t.Fatal(err)
			}
			m, err := n.model()
			if err != nil {
				t.Fatal(err)
			}
			prog, err := witness.Triggered(m)
			if err != nil {
				t.Fatal(err)
			}
			petritest.Run(t, script, prog)
			checkFrames(t, frames, test.frames)
			command(t, nil, args...).want(t, 2, "already contains frames")
		})
	}
}

// checkFrames wants a drawing, none like another, for each number of marked places.
func checkFrames(t *testing.T, dir string, marked []int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != len(marked) {
		t.Fatalf("%d frames, %v; want %d", len(files), err, len(marked))
	}
	seen := map[string]bool{}
	for i, f := range files {
		data, err := os.ReadFile(f)
		if err != nil || seen[string(data)] {
			t.Errorf("%s: %v, or it is drawn twice", f, err)
		}
		seen[string(data)] = true
		if n := len(regexp.MustCompile(`class="place[^"]* marked`).FindAll(data, -1)); n != marked[i] {
			t.Errorf("%s: %d places are marked; want %d", f, n, marked[i])
		}
		d := xml.NewDecoder(bytes.NewReader(data))
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// TestVerifyKeepsNothing says why nothing was written, and leaves nothing behind. TestVerify does the
// same with a net of ours.
func TestVerifyKeepsNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"proved", []string{testNet("self_loop.net"), "--property", "never q"}, 0, "nothing is refuted"},
		{"unknown", []string{testNet("growing.net"), "--property", "never p == 70000"}, 3, "nothing is refuted"},
		{"no run", []string{testNet("self_loop.net"), "--property", "reach q"}, 1, "all runs together"},
		{"mutants", []string{"session", "--mutate"}, 2, "--mutate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			args := append([]string{"verify"}, test.args...)
			args = append(args, "--script", filepath.Join(dir, "script"), "--frames", filepath.Join(dir, "frames"))
			command(t, nil, args...).want(t, test.code, test.says)
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%v left, %v", left, err)
			}
		})
	}
	command(t, nil, "verify", testNet("tie.net"), "--property", "deadlock-free", "--script",
		filepath.Join(t.TempDir(), "none", "script")).want(t, 2, "--script")
}
