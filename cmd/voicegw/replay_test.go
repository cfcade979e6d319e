package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// recordedCall lets serve record a call with an interruption, and returns the file.
func recordedCall(t *testing.T, dir string, args ...string) string {
	t.Helper()
	s := startServe(t, []string{"VOICEGW_GREETING="}, append([]string{"--record", dir}, args...)...)
	command(t, nil, "call", "--url", s.door, "--in", speech(t, "question"), "--barge-in", speech(t, "hello")+"@500ms",
		"--json").want(t, 0)
	s.end()
	files, err := filepath.Glob(filepath.Join(dir, "c-*"+recordEnding))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q: %v", files, err)
	}
	return files[0]
}

// TestRecordAndReplay is the whole path: serve, a call, its record, and what replay says of it.
func TestRecordAndReplay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "records")
	flags := []string{"--timing-frame-gap=450ms", "--timing-goodbye-after=20s", "--prompts-goodbye=none"}
	file := recordedCall(t, dir, flags...)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v: %v", info, err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config := writeFile(t, "voicegw.yaml", []byte("timing: {frame_gap: 450ms, goodbye_after: 20s}\n"+
		"prompts: {goodbye: none}\n"))
	same := command(t, nil, "replay", file, "--config", config)
	same.want(t, 0, "session (a call whose speech the gateway detects)", " events in ", "the same, event for event",
		"properties hold that are proved of the net")
	t.Logf("%d bytes: %s", len(data), same.stdout)
	command(t, []string{"VOICEGW_TIMING_FRAME_GAP=450ms", "VOICEGW_TIMING_GOODBYE_AFTER=20s",
		"VOICEGW_PROMPTS_GOODBYE=none"}, "replay", file).want(t, 0, "the same")
	command(t, nil, append([]string{"replay", file}, flags...)...).want(t, 0, "the same")
	command(t, nil, append([]string{"replay", file}, flags[:2]...)...).want(t, 2, "with other settings")

	lines := strings.SplitAfter(string(data), "\n")
	fired := regexp.MustCompile(`("kind":"fired","index":)\d+`)
	for _, test := range []struct {
		name, text string
		code       int
		words      []string
	}{
		{"forged", changed(string(data), len(data)/2, fired, "${1}0"), 1, []string{"differs", "recorded: ", "replayed: "}},
		{"renamed", changed(string(data), len(data)/2, regexp.MustCompile(`("kind":"fired".*"name":")`), "${1}x"), 1,
			[]string{"differs", "recorded: ", " fired x"}},
		{"cut", string(data[:len(data)-20]), 3, []string{"the same", "its last line is cut off"}},
		{"early", strings.Join(lines[:9], ""), 3, []string{"the same", "before the call does"}},
		{"sampled", strings.Replace(string(data), `"complete":true`, `"complete":false`, 1), 3,
			[]string{"events are missing"}},
		{"lost", strings.Join(lines[:9], "") + lines[9][:7] + "\n" + `{"note":"incomplete","after":8}` + "\n", 3,
			[]string{"line 11", "incomplete", "events after 8 are missing"}},
		{"gap", strings.Join(append(lines[:5:5], lines[6:]...), ""), 2, []string{"line 6", "event 6 where 5 is due"}},
		{"damaged", strings.Replace(string(data), `"kind":"fired"`, `"kind":"fierd"`, 1), 2, []string{"line ", `"fierd"`}},
		{"other", "hello\n", 2, []string{"no archive of events"}},
		{"empty", "", 2, []string{"no header"}},
	} {
		path := writeFile(t, test.name+recordEnding, []byte(test.text))
		command(t, nil, "replay", path, "--config", config).want(t, test.code, test.words...)
	}
	command(t, nil, "replay", file).want(t, 2, `made by net "session" with other settings`, "--config")
	command(t, nil, "replay", file, "--timing-frame-gap=1h").want(t, 2, "timing.frame_gap", "150ms to 2s")
	command(t, nil, "replay", filepath.Join(dir, "none")).want(t, 2, "no such file")
}

// changed changes the first match of a pattern at or after a place.
func changed(text string, from int, pattern *regexp.Regexp, to string) string {
	at := pattern.FindStringIndex(text[from:])
	if at == nil {
		return text
	}
	return text[:from+at[0]] + pattern.ReplaceAllString(text[from+at[0]:from+at[1]], to) + text[from+at[1]:]
}

// TestRecordDirectory: what cannot hold records is refused at the start.
func TestRecordDirectory(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "file", nil)
	command(t, nil, "serve", "--record", file).want(t, 2, "record is", "the path of a directory")
	command(t, nil, "serve", "--record", filepath.Join(file, "below")).want(t, 2, "record is")
	open := recordIn(t.TempDir())
	w, err := open("c-1")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := open("c-1"); err == nil {
		t.Error("a record was written over")
	}
	if recordIn("") != nil {
		t.Error("without a directory calls are recorded")
	}
}

// TestHoldToProof: a property that a recorded call breaks is told with the events that led there.
func TestHoldToProof(t *testing.T) {
	t.Parallel()
	n, err := findNet("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := n.program()
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	m := p.Start()
	if err := m.Inject(time.Second, voicenets.PeerMute.Token(voicenets.On)); err != nil {
		t.Fatal(err)
	}
	event.NewArchive(&data, p, event.ArchiveConfig{}).Append(m.Advance(time.Second).Events)
	file := writeFile(t, "muted"+recordEnding, data.Bytes())
	if watched, err := holdToProof(file, p, watchable(p, n.keeps())); err != nil || watched < 5 {
		t.Errorf("%d properties: %v", watched, err)
	}
	var a *answer
	_, err = holdToProof(file, p, []*verify.Property{verify.Never("ears/muted")})
	if !errors.As(err, &a) || a.code != exitFailed || !strings.Contains(a.text, "injected peer_mute[on]") {
		t.Errorf("%v", err)
	}
}

// TestSessionOf finds every net that calls run on by its hash.
func TestSessionOf(t *testing.T) {
	t.Parallel()
	for _, n := range shippedNets() {
		for _, greeting := range []bool{false, true} {
			c := n.config
			c.Greeting, c.BudgetFrames = greeting, 7
			p, err := shippedNet{config: c}.program()
			if err != nil {
				t.Fatal(err)
			}
			found, prog, err := sessionOf(event.Hash(p), voicenets.Config{BudgetFrames: 7})
			if err != nil || prog == nil || found.name != n.name || found.config.Greeting != greeting {
				t.Errorf("%s, greeting %v: found %q, %v", n.name, greeting, found.name, err)
			}
			if _, prog, _ := sessionOf(event.Hash(p), voicenets.Config{}); prog != nil {
				t.Error("another budget has the same hash")
			}
		}
	}
}
