package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestWhereAudioGoes wants people to be told the truth about it.
func TestWhereAudioGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		env   []string
		args  []string
		where string
		model string
		first string // what makes the model speak first
	}{
		{"no key", nil, nil, "embedded model: nothing leaves this machine", "parrot", "Greet the caller."},
		{"a key", []string{"GEMINI_API_KEY=k"}, nil, "audio goes to Google: gemini-3.1-flash-live-preview",
			"gemini-3.1-flash-live-preview", ""},
		{"a key and a model", []string{"GEMINI_API_KEY=k"}, []string{"--model-name", "gemini-x", "--greeting", "Hi."},
			"audio goes to Google: gemini-x", "gemini-x", "Hi."},
		{"elsewhere", nil, []string{"--model-base-url", "wss://live.example/x", "--model-name", "m"},
			"audio goes to live.example: m", "m", ""},
		{"parrot in spite of a key", []string{"GEMINI_API_KEY=k"}, []string{"--model-name", "parrot", "--greeting", ""},
			"embedded model: nothing leaves this machine", "parrot", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o, err := configured(t, "", c.env, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			m, err := openModel(o)
			if err != nil {
				t.Fatal(err)
			}
			defer m.close()
			if m.where != c.where || m.info.Name != c.model || m.info.Embedded != strings.HasPrefix(c.where, "embedded") {
				t.Errorf("%q, peers learn %+v; want %q", m.where, m.info, c.where)
			}
			if cfg, err := o.Gateway(); err != nil || cfg.Greeting != c.first {
				t.Errorf("the greeting is %q, %v; want %q", cfg.Greeting, err, c.first)
			}
			if m.info.Embedded && (m.wire.APIKey != "" || !strings.HasPrefix(m.wire.BaseURL, "ws://127.0.0.1:")) {
				t.Errorf("the embedded model is dialled at %q", m.wire.BaseURL)
			}
		})
	}
}

// TestDialer wants the library of Google's where it is asked for, with the embedded model too.
func TestDialer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		sdk  bool
	}{{nil, false}, {[]string{"--model-dialer", "sdk"}, true}, {[]string{"--model-dialer", "wire"}, false}} {
		o, err := configured(t, "", nil, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		m, err := openModel(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, sdk := m.dialer().(*live.SDK); sdk != c.sdk {
			t.Errorf("%q: %T", c.args, m.dialer())
		}
		conn, err := m.dialer().Dial(t.Context(), live.Setup{})
		if err != nil {
			t.Fatalf("%q: %v", c.args, err)
		}
		_ = conn.Close(1000, "")
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestVertex lets both dialers call a model of Vertex AI, by the token that the application default
// credentials are changed into, and starts nothing without those.
func TestVertex(t *testing.T) {
	t.Parallel()
	const token = "ya29.found"
	service, err := sim.New(sim.Config{APIKey: token})
	if err == nil {
		err = service.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"Bearer","expires_in":3600}`, token)
	}))
	defer tokens.Close()
	file := writeFile(t, "credentials.json", fmt.Appendf(nil, `{"type":"external_account","audience":"a",`+
		`"subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":%q,"credential_source":{"file":%q}}`,
		tokens.URL, writeFile(t, "subject", []byte("who"))))
	args := []string{"--vertex-project", "my-project", "--vertex-location", "europe-west4", "--model-name", "gemini-live",
		"--model-base-url", service.URL()}
	for i, dialer := range []string{"wire", "sdk"} {
		s := startServe(t, []string{"GOOGLE_APPLICATION_CREDENTIALS=" + file, "GEMINI_API_KEY=another"},
			append(args, "--model-dialer", dialer)...)
		if got := s.ended(t, ""); got != transport.ReasonNone {
			t.Errorf("%s: the call ended by %s\n%s", dialer, got, s.stderr.String())
		}
		s.end()
		c := service.Connections()[i]
		const model = "projects/my-project/locations/europe-west4/publishers/google/models/gemini-live"
		if !strings.Contains(c.Path, "google.cloud.aiplatform") || !strings.Contains(string(c.Setup), model) {
			t.Errorf("%s: %s is asked for %s", dialer, c.Path, c.Setup)
		}
		if strings.Contains(s.stderr.String(), token) {
			t.Errorf("%s: the token is in the log", dialer)
		}
	}
	r := command(t, []string{"GOOGLE_APPLICATION_CREDENTIALS=/nowhere.json"}, append([]string{"serve"}, args...)...)
	r.want(t, exitUsage, "vertex.project", "/nowhere.json", "gcloud auth application-default login")
}
