package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// TestTranscript finds what was said in a running call and in one that has ended, also when its file was renamed; if
// there is nothing, the error says why.
func TestTranscript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := recordsIn(dir, settings.Records{JSON: true, Transcripts: true, FileBytes: 4096, Files: 10})
	r.turn("c-up", &voicegw.Turn{Who: transport.WhoCaller, Text: "Where is my order?"})
	r.turn("c-up", &voicegw.Turn{Who: transport.WhoModel, Prompt: true, Ended: 9 * time.Second, Stages: []voicegw.Stage{
		{Name: voicegw.SpeechBegan, At: 2 * time.Second}, {Name: voicegw.SentFirst, At: 4 * time.Second}}})
	said, err := r.transcript(t.Context(), "c-up", time.Time{})
	if err != nil || fmt.Sprint(said) != "[{2000 caller Where is my order? } {4000 model (a prompt of the gateway) }]" {
		t.Errorf("a running call: %v, %v", said, err)
	}
	if said, err := r.transcript(t.Context(), "c-new", time.Time{}); err != nil || said != nil {
		t.Errorf("a call without a turn: %v, %v", said, err)
	}
	for i := range 20 {
		r.over(fmt.Sprintf("c-%d", i))
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "calls-*")); len(names) < 2 {
		t.Fatalf("only %q were renamed", names)
	}
	for _, id := range []string{"c-0", "c-19"} {
		said, err := r.transcript(t.Context(), id, time.Now())
		if err != nil || len(said) != 2 || said[0].Text != "my secret words" || said[1].End != "interrupted" {
			t.Errorf("%s: %v, %v", id, said, err)
		}
	}
	_, err = r.transcript(t.Context(), "c-none", time.Now())
	if err == nil || !strings.Contains(err.Error(), "no record of this") {
		t.Errorf("a call without a record: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.transcript(gone, "c-0", time.Now()); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for it: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := r.transcript(t.Context(), "c-0", time.Now()); err == nil {
		t.Error("without the directory there is no error")
	}
	for _, off := range []*records{nil, recordsIn(t.TempDir(), settings.Records{JSON: true})} {
		if _, err := off.transcript(t.Context(), "c-0", time.Now()); !errors.Is(err, errTranscriptsOff) {
			t.Errorf("transcripts are off: %v", err)
		}
	}
}
