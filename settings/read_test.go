package settings

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/voicenets"
)

// update rewrites docs/configuration.md: go test ./settings -run Fresh -update
var update = flag.Bool("update", false, "rewrite the table of settings in docs/configuration.md")

// configured reads a file, "" for none, an environment and flags.
func configured(t *testing.T, text string, env []string, args ...string) (*Settings, error) {
	t.Helper()
	from := Sources{Environ: env, Flags: map[string]string{}}
	for len(args) > 0 {
		name, text, ok := strings.Cut(strings.TrimPrefix(args[0], "--"), "=")
		if args = args[1:]; !ok && len(args) > 0 && !strings.HasPrefix(args[0], "--") {
			text, args = args[0], args[1:]
		} else if !ok {
			text = "true"
		}
		if from.Flags[name] = text; name == "config" {
			from.File = text
		}
	}
	if text != "" {
		from.File = writeFile(t, "voicegw.yaml", text)
	}
	return Read(from)
}

// writeFile writes a file for the test and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mistake is a wrong configuration, and words of its error.
type mistake struct {
	name  string
	file  string
	env   []string
	args  []string
	words []string
}

// TestMistakes wants each mistake named: the key, the value, where it came from and what is valid.
func TestMistakes(t *testing.T) {
	t.Parallel()
	empty := writeFile(t, "empty", "")
	for _, c := range []mistake{
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
		{"twice", "voice: a\nvoice: b", nil, nil, []string{"voice is given twice", "lines 1 and 2"}},
		{"no mapping", "- a", nil, nil, []string{"voicegw.yaml", "line 1", "keys and values"}},
		{"not YAML", "a: [", nil, nil, []string{"voicegw.yaml", "yaml: line 1"}},
		{"two documents", "voice: a\n---\nvoice: b", nil, nil, []string{"more than one document"}},
		{"unknown variable", "", []string{"VOICEGW_CALL_MAX=3"}, nil,
			[]string{"VOICEGW_CALL_MAX", `"3"`, "the environment", "did you mean VOICEGW_CALLS_MAX?"}},
		{"wrong variable", "", []string{"VOICEGW_CALLS_MAX=many"}, nil,
			[]string{"calls_max", `"many"`, "VOICEGW_CALLS_MAX", "1 to 100000"}},
		{"wrong flag", "", nil, []string{"--calls-max=0"}, []string{"calls_max", `"0"`, "--calls-max", "1 to 100000"}},
		{"a loss that is no choice", "archive_loss: ignore", nil, nil, []string{"archive_loss", `"ignore"`, "allow or end"}},
		{"an old key", "doors: [webrtc]", nil, nil, []string{"doors, with a list", "it is called endpoints now"}},
		{"an old variable", "", []string{"VOICEGW_RECORD=x"}, nil, []string{"VOICEGW_RECORD", "called VOICEGW_ARCHIVE now"}},
		{"an old key in a section", "timing: {owed_timeout: 3s}", nil, nil,
			[]string{"timing.owed_timeout", "it is called timing.turn_end_timeout now"}},
		{"an old value", "detection: manual", nil, nil,
			[]string{`detection is "manual"`, "want gateway, the new name of manual"}},
		{"key in the file", "model:\n  key: AIzaSecret", nil, nil,
			[]string{"model.key", "not shown", "GEMINI_API_KEY", "model.key_file"}},
		{"key in the environment", "", []string{"VOICEGW_MODEL_API_KEY=AIzaSecret"}, nil,
			[]string{"VOICEGW_MODEL_API_KEY", "not shown", "GEMINI_API_KEY"}},
		{"key with a space", "", []string{"GEMINI_API_KEY=AIza Secret"}, nil, []string{"GEMINI_API_KEY", "space"}},
		{"no key file", "", nil, []string{"--model-key-file", "nope"}, []string{"model.key_file", `"nope"`, "no such file"}},
		{"empty key file", "", nil, []string{"--model-key-file", empty}, []string{"model.key_file", "not empty"}},
		{"key file is a folder", "", nil, []string{"--model-key-file", t.TempDir()},
			[]string{"not a file of at most 64 KiB"}},
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
			[]string{`start_frames is "5"`, "it is 5 frames of 4"}},
		{"window and frames", "speech: {confirm_window: 14}", nil, nil,
			[]string{"confirm_frames", "speech.confirm_window", "15 frames of 14"}},
		{"an empty issuer", "", nil, []string{"--access-issuers", "shop,"}, []string{"access.issuers", "none of them empty"}},
		{"a secret in the file", "access: {secret: abc}", nil, nil,
			[]string{"access.secret", "not shown", "voicegw.yaml:1", "access.secret_file"}},
		{"raised window", "speech: {raised_start_frames: 64}", nil, nil,
			[]string{"raised_start_frames", `"64"`, "at most 64"}},
		{"word", "log: {level: verbose}", nil, nil, []string{"log.level", `"verbose"`, "debug, info, warn or error"}},
	} {
		t.Run(c.name, c.check)
	}
}

// TestMistakesTogether does the same for the model, the files, and settings that contradict each
// other.
func TestMistakesTogether(t *testing.T) {
	t.Parallel()
	key, cert := writeFile(t, "key", "a-key\n"), writeFile(t, "cert.pem", "nothing")
	for _, c := range []mistake{
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
		{"target without address", "handoff: {targets: [sales]}", nil, nil, []string{"handoff.targets", "sales=+4930123456"}},
		{"target twice", "", nil, []string{"--handoff-targets=a=1,a=2"}, []string{"handoff.targets", "a=1,a=2"}},
		{"target with a space", "handoff: {targets: {sales: +49 30 1}}", nil, nil, []string{"handoff.targets is a map"}},
		{"webhook without a secret", "webhooks: {end_url: 'https://a.example'}", nil, nil,
			[]string{"webhooks.end_url", "webhooks.secret_file beside it"}},
		{"webhook slower than the hello", "webhooks: {begin_url: 'https://a.example', secret_file: x, begin_timeout: 10s}",
			nil, nil, []string{"webhooks.begin_timeout", `"10s"`, "less than limits.hello_timeout (10s)"}},
		{"webhook of another scheme", "webhooks: {end_url: 'ftp://a.example', secret_file: x}", nil, nil,
			[]string{"webhooks.end_url", "an https URL"}},
		{"key", "keys: {protect: '**'}", nil, nil, []string{`keys.protect is "**"`, "a key of a telephone"}},
		{"key twice", "keys: {consent: '*', protect: '*'}\nsession: {consent: true}", nil, nil,
			[]string{"keys.protect", "another key than keys.consent"}},
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
		t.Run(c.name, c.check)
	}
}

func (c mistake) check(t *testing.T) {
	t.Parallel()
	_, err := configured(t, c.file, c.env, c.args...)
	if !errors.As(err, new(Error)) {
		t.Fatalf("the error is %v; want an Error", err)
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
}

// TestClosedEndpoints notes what was set for them, and is content.
func TestClosedEndpoints(t *testing.T) {
	t.Parallel()
	const file = "endpoints: [webrtc]\nwebrtc: {full_ice: true}\ntwilio:\n  public_url: https://voice.example.com\n"
	o, err := configured(t, file, nil, "--asterisk-user", "pbx")
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(o.Notes, "\n")
	if len(o.Notes) != 2 || !strings.Contains(notes, "voicegw.yaml:4) has no effect: endpoints does not name twilio") ||
		!strings.Contains(notes, "asterisk.user (from --asterisk-user)") {
		t.Errorf("noted: %q", o.Notes)
	}
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	file := "calls_max: 2\nvoice: Puck\ntiming:\n  frame_gap: 200ms\nlog: {level: warn, format: json}\n"
	o, err := configured(t, file, []string{"VOICEGW_CALLS_MAX=3", "VOICEGW_VOICE=Kore"}, "--calls-max", "4")
	if err != nil {
		t.Fatal(err)
	}
	if o.CallsMax() != 4 || o.Voice != "Kore" || o.gateway.Net.FrameGap != 200*time.Millisecond ||
		o.gateway.Net.LateAudio != 300*time.Millisecond || o.Log != (Log{zapcore.WarnLevel, "json"}) {
		t.Errorf("%+v", o)
	}
}

func TestConfigurationTakes(t *testing.T) {
	t.Parallel()
	key := writeFile(t, "key", " of-the-file\n")
	env := func(list ...string) []string { return list }
	for _, c := range []struct {
		name string
		file string
		env  []string
		args []string
		ok   func(*Settings) bool
	}{
		{"nothing", "", nil, nil, func(o *Settings) bool { return o.Embedded() && o.greeting == nil && Loopback(o.Listen) }},
		{"an empty file", "\n# nothing\n", nil, nil, func(o *Settings) bool { return o.Listen == ListenDefault }},
		{"a key without value", "voice:\nmodel:\ntiming: ~\n", nil, nil, func(o *Settings) bool { return o.Voice == "" }},
		{"other programs' variables", "", env("VOICEGW_CHROMIUM=x", "VOICE=y"), nil, func(*Settings) bool { return true }},
		{"a list of the file", "hosts: [a.example, b.example]", nil, nil,
			func(o *Settings) bool { return slices.Equal(o.Hosts, []string{"a.example", "b.example"}) }},
		{"a list with commas", "", env("VOICEGW_HOSTS=a.example, b.example"), nil,
			func(o *Settings) bool { return slices.Equal(o.Hosts, []string{"a.example", "b.example"}) }},
		{"a flag without value", "", nil, []string{"--show-net", "--insecure=false"},
			func(o *Settings) bool { return *o.showNet && !o.Insecure }},
		{"no greeting", "", env("VOICEGW_GREETING="), nil, func(o *Settings) bool { return *o.greeting == "" }},
		{"one text of instructions", "instructions: Be brief.", nil, nil,
			func(o *Settings) bool { return o.setup().SystemInstruction == "Be brief." }},
		{"instructions by name", "instructions: &a {default: One., support: Two.}", nil, []string{"--instructions", "Three."},
			func(o *Settings) bool {
				return maps.Equal(o.Instructions, map[string]string{"default": "Three.", "support": "Two."})
			}},
		{"an archive that may be lost", "archive_loss: allow", nil, nil,
			func(o *Settings) bool {
				return o.gateway.ArchiveLoss == voicegw.ArchiveLossAllowed
			}},
		{"an archive that may not", "", nil, []string{"--archive-loss=end"},
			func(o *Settings) bool { return o.gateway.ArchiveLoss == voicegw.ArchiveLossEnds }},
		{"detection by the model", "detection: model", nil, nil,
			func(o *Settings) bool { return o.gateway.Detection == voicenets.ModelVAD }},
		{"a key", "", env("GEMINI_API_KEY=k"), nil,
			func(o *Settings) bool { return !o.Embedded() && o.Wire().APIKey == "k" }},
		{"a key and the embedded model", "model: {name: parrot}", env("GEMINI_API_KEY=k"), nil,
			func(o *Settings) bool { return o.Embedded() && o.Wire().APIKey == "" }},
		{"a key and strangers, with open eyes", "listen: :8080\ninsecure: true", env("GEMINI_API_KEY=k"), nil,
			func(o *Settings) bool { return !Loopback(o.Listen) }},
		{"strangers and the embedded model", "listen: :0", nil, nil, func(o *Settings) bool { return o.Embedded() }},
		{"the file's key file is behind GEMINI_API_KEY", "model: {key_file: " + key + "}", env("GEMINI_API_KEY=k"), nil,
			func(o *Settings) bool { return o.Model.Key == "k" }},
		{"a flag's goes before it", "", env("GEMINI_API_KEY=k"), []string{"--model-key-file", key},
			func(o *Settings) bool { return o.Model.Key == "of-the-file" }},
		{"a key file", "model: {key_file: " + key + "}", nil, nil,
			func(o *Settings) bool { return o.Model.Key == "of-the-file" }},
		{"a project in spite of a key", "vertex: {project: p, location: eu}\nmodel: {name: m}", env("GEMINI_API_KEY=k"), nil,
			func(o *Settings) bool {
				w := o.Wire()
				return !o.Embedded() && w.APIKey == "" && w.Vertex.Project == "p" && w.Vertex.Location == "eu"
			}},
		{"a project and the embedded model", "vertex: {project: p, location: eu}\nmodel: {name: parrot}", nil, nil,
			func(o *Settings) bool { return o.Embedded() && o.Wire().Vertex == nil }},
		{"Google's library", "model: {dialer: sdk}", env("GEMINI_API_KEY=k"), nil,
			func(o *Settings) bool { return o.Model.SDK && !o.Embedded() }},
		{"another address without a key", "model: {base_url: 'ws://127.0.0.1:1'}", nil, nil,
			func(o *Settings) bool { return !o.Embedded() && o.Wire().BaseURL == "ws://127.0.0.1:1" }},
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
