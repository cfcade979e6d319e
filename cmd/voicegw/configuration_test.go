package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/voicenets"
)

// update rewrites what is made from the code: go test ./cmd/voicegw -run Fresh -update
var update = flag.Bool("update", false, "rewrite the table of settings and the drawing in docs")

// configured is what serve makes of a file, "" for none, an environment and flags.
func configured(t *testing.T, file string, env []string, args ...string) (*options, error) {
	t.Helper()
	cmd := &cobra.Command{Use: "serve"}
	cmd.SetFlagErrorFunc(flagError)
	addSettingFlags(cmd)
	if file != "" {
		args = append(args, "--config", writeFile(t, "voicegw.yaml", []byte(file)))
	}
	if err := cmd.ParseFlags(args); err != nil {
		return nil, flagError(cmd, err)
	}
	return configure(cmd.Flags(), env)
}

// TestConfigurationErrors wants each mistake named: the key, the value, where it came from and what would be right.
func TestConfigurationErrors(t *testing.T) {
	t.Parallel()
	empty, key := writeFile(t, "empty", nil), writeFile(t, "key", []byte("a-key\n"))
	cert := writeFile(t, "cert.pem", []byte("nothing"))
	for _, c := range []struct {
		name  string
		file  string
		env   []string
		args  []string
		words []string
	}{
		{"unknown key", "\nlistne: x", nil, nil, []string{"listne", `"x"`, "voicegw.yaml:2", "did you mean listen?"}},
		{"unknown nested key", "timing:\n  frame_gab: 1s", nil, nil,
			[]string{"timing.frame_gab", `"1s"`, "voicegw.yaml:2", "did you mean timing.frame_gap?"}},
		{"key out of its section", "key_file: x", nil, nil, []string{"did you mean tls.key_file or model.key_file?"}},
		{"another", "base_url: x", nil, nil, []string{"did you mean model.base_url?"}},
		{"unknown section", "modle:\n  name: x", nil, nil, []string{"modle, with a section", "did you mean model?"}},
		{"nothing like any key", "colour: red", nil, nil, []string{"colour", `"red"`, "docs/configuration.md"}},
		{"section as value", "model: x", nil, nil, []string{"model is \"x\"", "name, base_url, key_file"}},
		{"value as section", "voice: {a: b}", nil, nil, []string{"voice is a section", "Puck"}},
		{"list of lists", "hosts: [[a]]", nil, nil, []string{"hosts is a list", "voicegw.yaml:1"}},
		{"twice", "voice: a\nvoice: b", nil, nil, []string{"voice stands twice", "lines 1 and 2"}},
		{"no mapping", "- a", nil, nil, []string{"voicegw.yaml", "line 1", "keys and values"}},
		{"not YAML", "a: [", nil, nil, []string{"voicegw.yaml", "yaml: line 1"}},
		{"two documents", "voice: a\n---\nvoice: b", nil, nil, []string{"more than one document"}},
		{"unknown variable", "", []string{"VOICEGW_CALL_MAX=3"}, nil,
			[]string{"VOICEGW_CALL_MAX", `"3"`, "the environment", "did you mean VOICEGW_CALLS_MAX?"}},
		{"unknown flag", "", nil, []string{"--call-max", "3"}, []string{"--call-max", "did you mean --calls-max?"}},
		{"wrong variable", "", []string{"VOICEGW_CALLS_MAX=many"}, nil,
			[]string{"calls_max", `"many"`, "VOICEGW_CALLS_MAX", "1 to 100000"}},
		{"wrong flag", "", nil, []string{"--calls-max=0"}, []string{"calls_max", `"0"`, "--calls-max", "1 to 100000"}},
		{"a loss that is no choice", "record_loss: ignore", nil, nil, []string{"record_loss", `"ignore"`, "allow or end"}},
		{"key in the file", "model:\n  key: AIzaSecret", nil, nil,
			[]string{"model.key", "not shown", "GEMINI_API_KEY", "model.key_file"}},
		{"key in the environment", "", []string{"VOICEGW_MODEL_API_KEY=AIzaSecret"}, nil,
			[]string{"VOICEGW_MODEL_API_KEY", "not shown", "GEMINI_API_KEY"}},
		{"key as a flag", "", nil, []string{"--model-key=AIzaSecret"}, []string{"--model-key", "GEMINI_API_KEY"}},
		{"key with a space", "", []string{"GEMINI_API_KEY=AIza Secret"}, nil, []string{"GEMINI_API_KEY", "space"}},
		{"no key file", "", nil, []string{"--model-key-file", "nope"}, []string{"model.key_file", `"nope"`, "no such file"}},
		{"empty key file", "", nil, []string{"--model-key-file", empty}, []string{"model.key_file", "not empty"}},
		{"key file is a folder", "", nil, []string{"--model-key-file", t.TempDir()}, []string{"no file of at most 64 KiB"}},
		{"no configuration", "", nil, []string{"--config", "nope.yaml"}, []string{"nope.yaml: no such file"}},
		{"port alone", "listen: 8080", nil, nil, []string{"listen", `"8080"`, "127.0.0.1:8080"}},
		{"port too large", "", nil, []string{"--listen", "localhost:65536"}, []string{`"localhost:65536"`, "HOST:PORT"}},
		{"host with port", "hosts: [a.example, 'b.example:80']", nil, nil,
			[]string{"a.example, b.example:80", "without port"}},
		{"origin without scheme", "", nil, []string{"--origins", "shop.example"}, []string{"origins", "https://example.com"}},
		{"bool", "show_net: maybe", nil, nil, []string{"show_net", `"maybe"`, "true or false"}},
		{"time without unit", "timing: {call_max: 60}", nil, nil, []string{"timing.call_max", `"60"`, "1s to 24h", "30m"}},
		{"time out of range", "timing: {frame_gap: 10ms}", nil, nil, []string{`"10ms"`, "150ms to 2s, such as 300ms"}},
		{"half a frame", "timing: {budget: 410ms}", nil, nil, []string{`"410ms"`, "20ms to 2s", "whole frames of 20ms"}},
		{"score", "speech: {threshold: -1}", nil, nil, []string{"speech.threshold", `"-1"`, "over 0"}},
		{"frames and window", "speech: {start_frames: 5}", nil, nil,
			[]string{`start_frames is "5"`, "5 frames of 4 cannot be"}},
		{"window and frames", "speech: {confirm_window: 14}", nil, nil,
			[]string{"confirm_frames", "speech.confirm_window", "15 frames of 14"}},
		{"an empty issuer", "", nil, []string{"--access-issuers", "shop,"}, []string{"access.issuers", "none of them empty"}},
		{"a secret in the file", "access: {secret: abc}", nil, nil,
			[]string{"access.secret", "not shown", "voicegw.yaml:1", "access.secret_file"}},
		{"raised window", "speech: {raised_start_frames: 64}", nil, nil,
			[]string{"raised_start_frames", `"64"`, "at most 64"}},
		{"word", "log: {level: verbose}", nil, nil, []string{"log.level", `"verbose"`, "debug, info, warn or error"}},
		{"voice", "voice: no voice", nil, nil, []string{"voice", `"no voice"`, "voicegw.yaml:1", "Puck"}},
		{"language", "", []string{"VOICEGW_LANGUAGE=german!"}, nil, []string{"language", "VOICEGW_LANGUAGE", "de-DE"}},
		{"model", "", []string{"GEMINI_API_KEY=k", "VOICEGW_MODEL_NAME=a b"}, nil, []string{"model.name", `"a b"`}},
		{"model without a key", "model: {name: gemini-x}", nil, nil, []string{"model.name", `"gemini-x"`, "GEMINI_API_KEY"}},
		{"location alone", "vertex: {location: eu}", nil, nil,
			[]string{`vertex.location is "eu"`, "vertex.project beside it"}},
		{"project alone", "vertex: {project: p}", nil, nil, []string{`vertex.project is "p"`, "vertex.location beside it"}},
		{"project without a model", "vertex: {project: p, location: eu}", nil, nil,
			[]string{"model.name", "not set", "a Live model of Vertex AI"}},
		{"project and key file", "vertex: {project: p, location: eu}\nmodel: {name: m, key_file: " + key + "}", nil, nil,
			[]string{"model.key_file", "application default credentials"}},
		{"project that is none", "vertex: {project: a/b, location: eu}\nmodel: {name: m}", nil, nil,
			[]string{`vertex.project is "a/b"`, "my-project"}},
		{"location that is none", "vertex: {project: p, location: evil.example/}\nmodel: {name: m}", nil, nil,
			[]string{"vertex.location", "europe-west4"}},
		{"token sent in the clear", "vertex: {project: p, location: eu}\nmodel: {name: m, base_url: 'ws://example.com'}",
			nil, nil, []string{"model.base_url", "unencrypted"}},
		{"strangers and a project", "listen: :8080\nvertex: {project: p, location: eu}\nmodel: {name: m}", nil, nil,
			[]string{"listen", "at your expense"}},
		{"dialer", "model: {dialer: rest}", nil, nil, []string{`model.dialer is "rest"`, "wire or sdk"}},
		{"library without a key", "model: {dialer: sdk, base_url: 'ws://127.0.0.1:1'}", nil, nil,
			[]string{`model.dialer is "sdk"`, "wire, or an API key"}},
		{"URL", "model: {base_url: 'ftp://x'}", nil, nil, []string{"model.base_url", `"ftp://x"`, "wss"}},
		{"key sent in the clear", "model: {base_url: 'http://example.com'}", []string{"GEMINI_API_KEY=k"}, nil,
			[]string{"model.base_url", "unencrypted"}},
		{"name of instructions", "instructions: {'': x}", nil, nil, []string{"instructions is a map", "1 to 64 bytes"}},
		{"greeting", "greeting: " + strings.Repeat("x", 4001), nil, nil, []string{"greeting", "at most 4000 bytes"}},
		{"certificate alone", "tls: {cert_file: x}", nil, nil, []string{"tls.cert_file", "tls.key_file beside it"}},
		{"certificate's key alone", "tls: {key_file: x}", nil, nil, []string{"tls.key_file", "tls.cert_file beside it"}},
		{"no certificate", "tls: {cert_file: " + cert + ", key_file: " + cert + "}", nil, nil,
			[]string{"tls.cert_file", "PEM"}},
		{"two certificates", "tls: {cert_file: a, key_file: b, self_signed: true}", nil, nil,
			[]string{"tls.self_signed", "either"}},
		{"strangers and a key", "listen: :8080", []string{"GEMINI_API_KEY=k"}, nil,
			[]string{"listen", `":8080"`, "at your expense", "--insecure"}},
		{"strangers and a key file", "", nil, []string{"--listen", "0.0.0.0:80", "--model-key-file", key},
			[]string{"--insecure"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := configured(t, c.file, c.env, c.args...)
			if !errors.As(err, new(*usageError)) {
				t.Fatalf("the error is %v; want one of usage", err)
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("it does not say %q: %v", w, err)
				}
			}
			if strings.Contains(err.Error(), "Secret") {
				t.Errorf("a key is shown: %v", err)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("one mistake, several complaints: %v", err)
			}
		})
	}
}

// TestBadConfigurationEndsServe wants all mistakes at once, on stderr, and exit code 2.
func TestBadConfigurationEndsServe(t *testing.T) {
	t.Parallel()
	file := writeFile(t, "voicegw.yaml", []byte("listne: ':1'\ntiming:\n  frame_gap: 5 s\n"))
	r := command(t, []string{"VOICEGW_SHOW_NETS=yes", "VOICEGW_CONFIG=" + file}, "serve", "--calls-max", "0")
	r.want(t, exitUsage, "voicegw serve: 4 settings are wrong",
		`listne, with ":1" (from voicegw.yaml:1), is no setting; did you mean listen?`,
		`timing.frame_gap is "5 s" (from voicegw.yaml:3); want a length of time from 150ms to 2s, such as 300ms`,
		`VOICEGW_SHOW_NETS, with "yes" (from the environment), is no setting; did you mean VOICEGW_SHOW_NET?`,
		`calls_max is "0" (from --calls-max); want a whole number from 1 to 100000`)
	if r.stdout != "" {
		t.Errorf("on stdout: %q", r.stdout)
	}
	tools := writeFile(t, "tools.json", []byte(`[{"name": "two words"}]`))
	for _, c := range []struct {
		args []string
		word string
	}{
		{[]string{"serve", "--listn", ":0"}, "did you mean --listen?"},
		{[]string{"serve", "now"}, `not "now"`},
		{[]string{"serve", "--show-net", "false"}, "--show-net=false"},
		{[]string{"serve", "--session-tools-file", tools}, "session.tools_file " + tools + ": "},
		{[]string{"serve", "--doors", "twilio", "--twilio-secret-file", "nope"}, "the door twilio: twilio.secret_file"},
		{[]string{"srve"}, "did you mean serve?"},
		{[]string{"dance"}, "the commands are call"},
		{[]string{"sim", "--listen", "0.0.0.0:0"}, "loopback"},
		{[]string{"sim", "--speed", "0"}, "0.1 to 1000"},
		{[]string{"sim", "--latency", "1h"}, "10s"},
		{[]string{"net", "sesion"}, "did you mean session?"},
		{[]string{"net", "--format", "png"}, "dot, svg, json, pnml or tina"},
		{[]string{"net", "session", "session"}, "one net"},
		{[]string{"verify", "x"}, "the nets are session,"},
	} {
		command(t, nil, c.args...).want(t, exitUsage, c.word, "--help` says more")
	}
}

// TestDoorsThatAreNotOpen notes what was set for them, and is content.
func TestDoorsThatAreNotOpen(t *testing.T) {
	t.Parallel()
	const file = "doors: [webrtc]\nwebrtc: {full_ice: true}\ntwilio:\n  public_url: https://voice.example.com\n"
	o, err := configured(t, file, nil, "--asterisk-user", "pbx")
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(o.notes, "\n")
	if len(o.notes) != 2 || !strings.Contains(notes, "voicegw.yaml:4) has no effect: doors does not name twilio") ||
		!strings.Contains(notes, "asterisk.user (from --asterisk-user)") {
		t.Errorf("noted: %q", o.notes)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := "calls_max: 2\nvoice: Puck\ntiming:\n  frame_gap: 200ms\nlog: {level: warn, format: json}\n"
	o, err := configured(t, file, []string{"VOICEGW_CALLS_MAX=3", "VOICEGW_VOICE=Kore"}, "--calls-max", "4")
	if err != nil {
		t.Fatal(err)
	}
	if o.callsMax != 4 || o.voice != "Kore" || o.timing.FrameGap != 200*time.Millisecond ||
		o.timing.LateAudio != 300*time.Millisecond || o.log != (logOptions{zapcore.WarnLevel, "json"}) {
		t.Errorf("%+v", o)
	}
}

func TestConfigurationTakes(t *testing.T) {
	t.Parallel()
	key := writeFile(t, "key", []byte(" of-the-file\n"))
	env := func(list ...string) []string { return list }
	for _, c := range []struct {
		name string
		file string
		env  []string
		args []string
		ok   func(*options) bool
	}{
		{"nothing", "", nil, nil, func(o *options) bool { return o.embedded() && o.greeting == nil && loopback(o.listen) }},
		{"an empty file", "\n# nothing\n", nil, nil, func(o *options) bool { return o.listen == listenDefault }},
		{"a key without value", "voice:\nmodel:\ntiming: ~\n", nil, nil, func(o *options) bool { return o.voice == "" }},
		{"other programs' variables", "", env("VOICEGW_CHROMIUM=x", "VOICE=y"), nil, func(*options) bool { return true }},
		{"a list of the file", "hosts: [a.example, b.example]", nil, nil,
			func(o *options) bool { return slices.Equal(o.hosts, []string{"a.example", "b.example"}) }},
		{"a list with commas", "", env("VOICEGW_HOSTS=a.example, b.example"), nil,
			func(o *options) bool { return slices.Equal(o.hosts, []string{"a.example", "b.example"}) }},
		{"a flag without value", "", nil, []string{"--show-net", "--insecure=false"},
			func(o *options) bool { return *o.showNet && !o.insecure }},
		{"no greeting", "", env("VOICEGW_GREETING="), nil, func(o *options) bool { return *o.greeting == "" }},
		{"one text of instructions", "instructions: Be brief.", nil, nil,
			func(o *options) bool { return o.setup().SystemInstruction == "Be brief." }},
		{"instructions by name", "instructions: &a {default: One., support: Two.}", nil, []string{"--instructions", "Three."},
			func(o *options) bool {
				return maps.Equal(o.instructions, map[string]string{"default": "Three.", "support": "Two."})
			}},
		{"a record that may be lost", "record_loss: allow", nil, nil,
			func(o *options) bool {
				return o.gateway(&model{}, zap.NewNop()).RecordLoss == voicegw.RecordLossAllowed
			}},
		{"a record that may not", "", nil, []string{"--record-loss=end"},
			func(o *options) bool { return o.gateway(&model{}, zap.NewNop()).RecordLoss == voicegw.RecordLossEnds }},
		{"server detection", "detection: server", nil, nil, func(o *options) bool { return o.detection == voicenets.Server }},
		{"a key", "", env("GEMINI_API_KEY=k"), nil,
			func(o *options) bool { return !o.embedded() && o.wire().APIKey == "k" }},
		{"a key and the embedded model", "model: {name: parrot}", env("GEMINI_API_KEY=k"), nil,
			func(o *options) bool { return o.embedded() && o.wire().APIKey == "" }},
		{"a key and strangers, with open eyes", "listen: :8080\ninsecure: true", env("GEMINI_API_KEY=k"), nil,
			func(o *options) bool { return !loopback(o.listen) }},
		{"strangers and the embedded model", "listen: :0", nil, nil, func(o *options) bool { return o.embedded() }},
		{"the file's key file is behind GEMINI_API_KEY", "model: {key_file: " + key + "}", env("GEMINI_API_KEY=k"), nil,
			func(o *options) bool { return o.model.key == "k" }},
		{"a flag's goes before it", "", env("GEMINI_API_KEY=k"), []string{"--model-key-file", key},
			func(o *options) bool { return o.model.key == "of-the-file" }},
		{"a key file", "model: {key_file: " + key + "}", nil, nil,
			func(o *options) bool { return o.model.key == "of-the-file" }},
		{"a project in spite of a key", "vertex: {project: p, location: eu}\nmodel: {name: m}", env("GEMINI_API_KEY=k"), nil,
			func(o *options) bool {
				w := o.wire()
				return !o.embedded() && w.APIKey == "" && w.Vertex.Project == "p" && w.Vertex.Location == "eu"
			}},
		{"a project and the embedded model", "vertex: {project: p, location: eu}\nmodel: {name: parrot}", nil, nil,
			func(o *options) bool { return o.embedded() && o.wire().Vertex == nil }},
		{"Google's library", "model: {dialer: sdk}", env("GEMINI_API_KEY=k"), nil,
			func(o *options) bool { return o.model.sdk && !o.embedded() }},
		{"another address without a key", "model: {base_url: 'ws://127.0.0.1:1'}", nil, nil,
			func(o *options) bool { return !o.embedded() && o.wire().BaseURL == "ws://127.0.0.1:1" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, err := configured(t, c.file, c.env, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if !c.ok(o) {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestEverySetting gives each its default in all three spellings.
func TestEverySetting(t *testing.T) {
	t.Parallel()
	plain := newOptions(settings())
	for _, s := range settings() {
		if s.kind != "number" && s.kind != "time" {
			continue
		}
		section, name, nested := strings.Cut(s.key, ".")
		file := s.key + ": " + s.def
		if nested {
			file = section + ": {" + name + ": " + s.def + "}"
		}
		for _, given := range []struct {
			file string
			env  []string
			args []string
		}{{file, nil, nil}, {"", []string{s.env() + "=" + s.def}, nil}, {"", nil, []string{"--" + s.flag(), s.def}}} {
			o, err := configured(t, given.file, given.env, given.args...)
			if err != nil || !reflect.DeepEqual(o, plain) {
				t.Errorf("%+v: %v, %+v", given, err, o)
			}
		}
	}
}

// TestLimitsAreThoseOfTheNet wants the limits of the settings to be those that package voicenets has: a value that we
// take it takes, one that we refuse it refuses.
func TestLimitsAreThoseOfTheNet(t *testing.T) {
	t.Parallel()
	between := regexp.MustCompile(`from (\S+) to ([^\s,]+)`)
	for _, s := range slices.Concat(timingSettings(), silenceSettings()) {
		m := between.FindStringSubmatch(s.want)
		for i, step := range []time.Duration{-audio.FrameDuration, audio.FrameDuration} {
			limit, err := time.ParseDuration(m[i+1])
			if err != nil {
				t.Fatal(err)
			}
			if limit+step == 0 {
				step = -2 * audio.FrameDuration // zero means the default there
			}
			for _, c := range []struct {
				value time.Duration
				ok    bool
			}{{limit, true}, {limit + step, false}} {
				o := newOptions(settings())
				took := s.store(o, value{text: c.value.String()})
				_, err := voicenets.Session(o.timing)
				if took != c.ok || (err == nil) != c.ok {
					t.Errorf("%s: %v: taken %v; voicenets says %v", s.key, c.value, took, err)
				}
			}
		}
	}
}

// TestSpeechLimits does the same with package audio.
func TestSpeechLimits(t *testing.T) {
	t.Parallel()
	for _, start := range []int{1, 3, 4, 5, 64} {
		for _, window := range []int{1, 4, 30, 64} {
			for _, raised := range []int{1, 3, 34, 38, 64} {
				_, err := configured(t, fmt.Sprintf("speech: {start_frames: %d, start_window: %d, raised_start_frames: %d}",
					start, window, raised), nil)
				_, want := audio.NewActivity(audio.ActivityConfig{StartFrames: start, StartWindow: window,
					RaisedStartFrames: raised})
				if (err == nil) != (want == nil) {
					t.Errorf("start %d of %d, raised %d: %v; audio says %v", start, window, raised, err, want)
				}
			}
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"listen", "language", "voice", "timing.frame_gap"}
	for wrong, want := range map[string]string{
		"listen": "listen", "LISTEN": "listen", "lisetn": "listen", "listn": "listen", "lang": "", "languages": "language",
		"vioce": "voice", "timing.framegap": "timing.frame_gap", "x": "", "": "",
	} {
		if got := nearest(wrong, names); got != want {
			t.Errorf("nearest to %q is %q; want %q", wrong, got, want)
		}
	}
}

// TestConfigurationDocIsFresh holds the table and the example of docs/configuration.md to the code.
func TestConfigurationDocIsFresh(t *testing.T) {
	t.Parallel()
	name := filepath.Join("..", "..", "docs", "configuration.md")
	doc, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	table := regexp.MustCompile(`(?s)(<!-- settings: .*?-->\n).*?(<!-- end of settings -->)`)
	fresh := table.ReplaceAll(doc, []byte("${1}"+strings.ReplaceAll(settingsTable(), "$", "$$")+"${2}"))
	if !slices.Equal(doc, fresh) {
		if !*update {
			t.Errorf("%s is not what the code says: go test ./cmd/voicegw -run Fresh -update", name)
		} else if err := os.WriteFile(name, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	example := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(doc)
	if example == nil {
		t.Fatal("there is no example")
	}
	if _, err := configured(t, string(example[1]), []string{"GEMINI_API_KEY=k"}); err != nil {
		t.Errorf("the example: %v", err)
	}
}

// settingsTable is the table of settings in Markdown.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| key | default | what it is for | what is possible |\n|---|---|---|---|\n")
	cell := strings.NewReplacer("|", `\|`, "*", `\*`)
	for _, s := range settings() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.key, cell.Replace(s.def), cell.Replace(s.doc), cell.Replace(s.want))
	}
	return b.String()
}

// FuzzConfiguration wants any file to be taken or refused, never to break anything, and no secret to be shown.
func FuzzConfiguration(f *testing.F) {
	f.Add("listen: :0\ntiming: {frame_gap: 1s}")
	f.Add("a: &a [*a]\nhosts: *a")
	f.Add("model:\n  ? [x]\n  : y")
	f.Add("instructions: {a: &b x, <<: *b}")
	f.Fuzz(func(t *testing.T, file string) {
		cmd := &cobra.Command{}
		addSettingFlags(cmd)
		if err := cmd.ParseFlags([]string{"--config", writeFile(t, "voicegw.yaml", []byte(file))}); err != nil {
			t.Fatal(err)
		}
		o, err := configure(cmd.Flags(), nil)
		if (o == nil) == (err == nil) {
			t.Errorf("options %v and error %v", o, err)
		}
	})
}
