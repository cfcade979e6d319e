//go:build !race

package voicegw_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// entries collects what callers enter.
type entries struct {
	mu   sync.Mutex
	list []string
}

func (e *entries) add(_ *voicegw.Session, digits string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, digits)
}

func (e *entries) all() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.list, " ")
}

// presses sends keys of a telephone, one by one.
func (p *phone) presses(keys string) {
	for _, k := range keys {
		p.send(transport.Event{Kind: transport.EventDTMF, Text: string(k)})
		time.Sleep(200 * time.Millisecond)
	}
}

// archive keeps the events of a call in memory.
type archive struct {
	mu sync.Mutex
	bytes.Buffer
}

func (a *archive) Write(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.Buffer.Write(b)
}

func (a *archive) Close() error { return nil }

// TestKeys: a caller agrees by a key and enters a number that only the host gets, whatever the host asks for meanwhile.
func TestKeys(t *testing.T) {
	t.Parallel()
	var got entries
	events := &archive{}
	cfg, sessions := withSession(voicegw.Config{Net: voicenets.Config{Consent: true},
		Keys: voicegw.Keys{Consent: "1", Protect: "*", ProtectEnd: "#"}})
	cfg.Hooks.Digits = got.add
	cfg.Archive = func(string) (io.WriteCloser, error) { return events, nil }
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		p.presses("9") // is no consent
		if !s.State().Unconsented {
			t.Error("another key is consent")
		}
		p.presses("*1#")
		time.Sleep(10 * time.Second)
		if !s.State().Unconsented {
			t.Error("a digit of protected input is consent")
		}
		p.presses("1")
		if st := s.State(); st.Unconsented || st.InputClosed {
			t.Errorf("the caller has agreed: %+v", st)
		}
		p.presses("1#") // a key like any other now
		time.Sleep(10 * time.Second)
		p.presses("*5105")
		if !s.State().Protected {
			t.Error("the input is not protected")
		}
		if err := s.Protect(false); err != nil {
			t.Error(err)
		}
		p.presses("1051")
		if !s.State().Protected {
			t.Error("the host exposed the caller's digits")
		}
		p.presses("#")
		time.Sleep(10 * time.Second)
		if s.State().Protected {
			t.Error("the input is still protected")
		}
		p.presses("7#")
		time.Sleep(10 * time.Second)
		// The host ended the protection, and the net dropped what it had of the entry.
		if all := got.all(); all != "1 1051" {
			t.Errorf("the host got %q", all)
		}
		texts := fmt.Sprint(w.connection(1).Texts)
		for text, want := range map[string]bool{"pressed 1#": true, "pressed 7#": true, "5105": false, "1051": false,
			"*": false} {
			if strings.Contains(texts, text) != want {
				t.Errorf("the model got %q, in which %q is to be: %t", texts, text, want)
			}
		}
		if strings.Contains(events.String(), `"5105`) {
			t.Error("the archive has the digits")
		}
		p.hangUp()
	})
}

// TestKeysWithoutDigits: an end key without digits gives the host nothing, and one without a beginning is a digit.
func TestKeysWithoutDigits(t *testing.T) {
	t.Parallel()
	var got entries
	cfg, sessions := withSession(voicegw.Config{Keys: voicegw.Keys{Protect: "*", ProtectEnd: "*"}})
	cfg.Hooks.Digits = got.add
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		p.presses("**")
		time.Sleep(5 * time.Second)
		if s.State().Protected || got.all() != "" {
			t.Errorf("%+v, and the host got %q", s.State(), got.all())
		}
		p.presses("*42*")
		time.Sleep(5 * time.Second)
		if s.State().Protected || got.all() != "42" {
			t.Errorf("%+v, and the host got %q", s.State(), got.all())
		}
		p.hangUp()
	})
}

// TestKeysAndHost: what the host protects stays so when a caller's key ends its own protection, its digits are no
// consent, and an end key behind the host's is no digit.
func TestKeysAndHost(t *testing.T) {
	t.Parallel()
	var got entries
	cfg, sessions := withSession(voicegw.Config{Net: voicenets.Config{Consent: true},
		Keys: voicegw.Keys{Consent: "1", Protect: "*", ProtectEnd: "#"}})
	cfg.Hooks.Digits = got.add
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		protect := func(on bool) {
			if err := s.Protect(on); err != nil {
				t.Error(err)
			}
		}
		protect(true)
		p.presses("12#")
		if !s.State().Unconsented {
			t.Error("a digit that the host protects is consent")
		}
		p.presses("*34#")
		if !s.State().Protected {
			t.Error("a key ended what the host protects")
		}
		protect(false)
		p.presses("1")
		if st := s.State(); st.Protected || st.Unconsented {
			t.Errorf("the host has ended it, and the caller has agreed: %+v", st)
		}
		p.presses("*56")
		protect(false)
		p.presses("#")
		time.Sleep(10 * time.Second)
		if st := s.State(); st.Protected || got.all() != "12# 34" {
			t.Errorf("the host got %q, and %+v", got.all(), st)
		}
		if texts := fmt.Sprint(w.connection(1).Texts); strings.Contains(texts, "pressed") {
			t.Errorf("the model got %q", texts)
		}
		p.hangUp()
	})
}

// TestKeysAreNoTurns: keys that protect are not counted as entries for the model, so none is refused.
func TestKeysAreNoTurns(t *testing.T) {
	t.Parallel()
	var got entries
	cfg, sessions := withSession(voicegw.Config{TypedPerMinute: 1, Keys: voicegw.Keys{Protect: "#", ProtectEnd: "#"}})
	cfg.Hooks.Digits = got.add
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		s := <-sessions
		p.presses("#51##62#")
		if s.State().Protected || got.all() != "51 62" {
			t.Errorf("%+v, and the host got %q", s.State(), got.all())
		}
		p.hangUp()
	})
}

// TestKeysRefused names what is wrong with keys.
func TestKeysRefused(t *testing.T) {
	t.Parallel()
	for want, keys := range map[string]voicegw.Keys{
		`Config.Keys.Protect is "**"`: {Protect: "**", ProtectEnd: "#"}, `Config.Keys.Consent is "x"`: {Consent: "x"},
		"needs Config.Net.Consent": {Consent: "1"}, "each needs the other": {Protect: "*"},
	} {
		_, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"}, Keys: keys})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q", keys, err, want)
		}
	}
	_, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"},
		Net:  voicenets.Config{Consent: true},
		Keys: voicegw.Keys{Consent: "*", Protect: "*", ProtectEnd: "#"}})
	if err == nil || !strings.Contains(err.Error(), "must differ") {
		t.Errorf("one key for two things: %v", err)
	}
}
