package main

import (
	"strings"
	"testing"
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
		{"no key", nil, nil, "embedded model: nothing leaves this machine", "parrot", greetingDefault},
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
			if m.where != c.where || m.told.Name != c.model || m.told.Embedded != strings.HasPrefix(c.where, "embedded") {
				t.Errorf("%q, peers are told %+v; want %q", m.where, m.told, c.where)
			}
			if got := o.greetingFor(m); got != c.first {
				t.Errorf("the greeting is %q; want %q", got, c.first)
			}
			if m.told.Embedded && (m.wire.APIKey != "" || !strings.HasPrefix(m.wire.BaseURL, "ws://127.0.0.1:")) {
				t.Errorf("the embedded model is dialled at %q", m.wire.BaseURL)
			}
		})
	}
}
