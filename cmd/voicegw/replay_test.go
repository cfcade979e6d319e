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

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// recordedCall lets serve record a call with an interruption, and returns the file.
func recordedCall(t *testing.T, dir string, args ...string) string {
	t.Helper()
	s := startProved(t, []string{"VOICEGW_GREETING="}, append([]string{"--archive", dir}, args...)...)
	command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "question"), "--barge-in", speech(t, "hello")+"@500ms",
		"--json").want(t, 0)
	s.end()
	files, err := filepath.Glob(filepath.Join(dir, "c-*"+settings.ArchiveEnding))
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
	same.want(t, 0, "session (a call whose speech the gateway detects)", " events in ", "all are the same",
		"proved properties hold in every marking")
	t.Logf("%d bytes: %s", len(data), same.stdout)
	command(t, []string{"VOICEGW_TIMING_FRAME_GAP=450ms", "VOICEGW_TIMING_GOODBYE_AFTER=20s",
		"VOICEGW_PROMPTS_GOODBYE=none"}, "replay", file).want(t, 0, "the same")
	command(t, nil, append([]string{"replay", file}, flags...)...).want(t, 0, "the same")
	command(t, nil, append([]string{"replay", file}, flags[:2]...)...).want(t, 2, "with other settings")

	command(t, nil, "replay", file, "--config", config, "-o", "json").want(t, 0, `"net":"session"`, `"properties":`)
	lines := strings.SplitAfter(string(data), "\n")
	fired := regexp.MustCompile(`("kind":"fired","index":)\d+`)
	for _, test := range []struct {
		name, text string
		code       int
		words      []string
	}{
		{"forged", changed(string(data), len(data)/2, fired, "${1}0"), 1, []string{"differs", "archived: ", "replayed: "}},
		{"renamed", changed(string(data), len(data)/2, regexp.MustCompile(`("kind":"fired".*"name":")`), "${1}x"), 1,
			[]string{"differs", "archived: ", " fired x"}},
		{"cut", string(data[:len(data)-20]), 3, []string{"the same", "its last line is cut off"}},
		{"early", strings.Join(lines[:9], ""), 3, []string{"the same", "before the call does"}},
		{"sampled", strings.Replace(string(data), `"complete":true`, `"complete":false`, 1), 3,
			[]string{"events are missing"}},
		{"lost", strings.Join(lines[:9], "") + lines[9][:7] + "\n" + `{"note":"incomplete","after":8}` + "\n", 3,
			[]string{"line 11", "incomplete", "events after 8 are missing"}},
		{"gap", strings.Join(append(lines[:5:5], lines[6:]...), ""), 2, []string{"line 6", "event 6 instead of event 5"}},
		{"damaged", strings.Replace(string(data), `"kind":"fired"`, `"kind":"fierd"`, 1), 2, []string{"line ", `"fierd"`}},
		{"other", "hello\n", 2, []string{"not an archive of events"}},
		{"empty", "", 2, []string{"no header"}},
	} {
		path := writeFile(t, test.name+settings.ArchiveEnding, []byte(test.text))
		command(t, nil, "replay", path, "--config", config).want(t, test.code, test.words...)
	}
	forged := writeFile(t, "forged.jsonl", []byte(changed(string(data), len(data)/2, fired, "${1}0")))
	command(t, nil, "replay", forged, "--config", config, "-o", "json").want(t, 1, `"difference":{"event":`,
		`"archived":"`)
	command(t, nil, "replay", file).want(t, 2, `written by net "session" with other settings`, "--config")
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

// TestArchiveDirectory: what cannot hold archives is refused at the start.
func TestArchiveDirectory(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "file", nil)
	command(t, nil, "serve", "--archive", file).want(t, 2, "archive is", "the path of a directory")
	command(t, nil, "serve", "--archive", filepath.Join(file, "below")).want(t, 2, "archive is")
}

// mutedCall archives a call of the shipped net whose caller mutes the microphone after a second.
func mutedCall(t *testing.T) (n shippedNet, p *petri.Program, file string) {
	t.Helper()
	n, err := findNet("")
	if err != nil {
		t.Fatal(err)
	}
	p, err = n.program()
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	m := p.Start()
	if err := m.Inject(time.Second, voicenets.PeerMute.Token(voicenets.On)); err != nil {
		t.Fatal(err)
	}
	event.NewArchive(&data, p, event.ArchiveConfig{}).Append(m.Advance(time.Second).Events)
	return n, p, writeFile(t, "muted"+settings.ArchiveEnding, data.Bytes())
}

// TestArchiveOfOtherNames: an archive of a version whose nets had other names is refused as one, with the first
// of these names, and not as one of other settings.
func TestArchiveOfOtherNames(t *testing.T) {
	t.Parallel()
	_, p, file := mutedCall(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(data), event.Hash(p), "sha256:0", 1)
	same := writeFile(t, "same"+settings.ArchiveEnding, []byte(other))
	command(t, nil, "replay", same).want(t, 2, "with other settings", "the version that wrote it")
	older := writeFile(t, "older"+settings.ArchiveEnding,
		[]byte(strings.NewReplacer("peer_mute", "peer_quiet", "input_gate/", "ear/").Replace(other)))
	for _, flags := range [][]string{nil, {"--at", "1s"}, {"--step"}} {
		command(t, nil, append([]string{"replay", older}, flags...)...).want(t, 2, "a version of voicegw with other names",
			`no net of this version has "peer_quiet"`, "No setting helps", "sha256:0")
	}
}

// TestHoldToProof replays a call that breaks a property. The error shows the events that led there.
func TestHoldToProof(t *testing.T) {
	t.Parallel()
	n, p, file := mutedCall(t)
	if watched, err := holdToProof(file, p, watchable(p, n.keeps())); err != nil || watched < 5 {
		t.Errorf("%d properties: %v", watched, err)
	}
	var a *answer
	_, err := holdToProof(file, p, []*verify.Property{verify.Never("input_gate/muted")})
	if !errors.As(err, &a) || a.code != exitFailed || !strings.Contains(a.text, "injected peer_mute[on]") {
		t.Errorf("%v", err)
	}
}
