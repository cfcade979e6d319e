package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// noLines takes no call.
type noLines struct{}

// Take says that all lines are in use.
func (noLines) Take(transport.Handshake) (transport.Line, error) {
	return nil, &transport.Refused{Reason: transport.ReasonBusy}
}

// TestGeminiPathsAreNotRedirected asks as the clients do. http.ServeMux would answer a double slash
// with a redirect, which no WebSocket client follows; the endpoint asks for an upgrade.
func TestGeminiPathsAreNotRedirected(t *testing.T) {
	t.Parallel()
	p, err := openEndpoints(&settings.Settings{Endpoints: []string{"gemini"}}, noLines{}, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	handler := p.before(http.NotFoundHandler())
	for path, want := range map[string]int{
		"//ws/google.ai.generativelanguage.v1.GenerativeService.BidiGenerateContent":                 426,
		"//ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent":             426,
		"/prefix//ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContent":     426,
		"//ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained": 426,
		"//ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent":                    426,
		"/v1/voice": 404,
	} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", path, w.Code, want)
		}
	}
}

// TestResumeWithin: the setting is that of the endpoints, and 0 means that no call can be resumed.
func TestResumeWithin(t *testing.T) {
	t.Parallel()
	for set, want := range map[time.Duration]time.Duration{0: -1, time.Minute: time.Minute} {
		s := &settings.Settings{}
		s.Limits.ResumeWithin = set
		if got := webSockets(s, noLines{}, zap.NewNop()).ResumeWithin; got != want {
			t.Errorf("%v: %v, want %v", set, got, want)
		}
	}
}

// TestRealtimeCalls: pages of OpenAI's Realtime API find their paths where both openai and webrtc are
// open.
func TestRealtimeCalls(t *testing.T) {
	t.Parallel()
	for want, names := range map[int][]string{
		http.StatusServiceUnavailable: {"openai", "webrtc"}, http.StatusNotFound: {"webrtc"},
	} {
		p, err := openEndpoints(&settings.Settings{Endpoints: names, WebRTC: settings.WebRTC{Listen: "127.0.0.1:0"}},
			noLines{}, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = p.Close() }()
		handler := p.before(http.NotFoundHandler())
		for path, kind := range map[string]string{"calls": "application/sdp", "client_secrets": "application/json"} {
			r := httptest.NewRequest(http.MethodPost, "http://localhost/v1/realtime/"+path, strings.NewReader("{}"))
			r.Header.Set("Content-Type", kind)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%v: %s: %d %s, want %d", names, path, w.Code, w.Body, want)
			}
		}
	}
}

// TestSmallWebRTC: Pipecat's WebRTC transport finds its path where both rtvi and webrtc are open.
func TestSmallWebRTC(t *testing.T) {
	t.Parallel()
	for want, names := range map[int][]string{
		http.StatusServiceUnavailable: {"rtvi", "webrtc"}, http.StatusNotFound: {"webrtc"},
	} {
		p, err := openEndpoints(&settings.Settings{Endpoints: names, WebRTC: settings.WebRTC{Listen: "127.0.0.1:0"}},
			noLines{}, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = p.Close() }()
		r := httptest.NewRequest(http.MethodPost, "http://localhost/api/offer", strings.NewReader("{"))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		p.before(http.NotFoundHandler()).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%v: %d %s, want %d", names, w.Code, w.Body, want)
		}
	}
}

// opened compiles the nets of a gateway and opens its endpoints, but does not listen.
func opened(o *settings.Settings) error {
	m, err := openModel(o)
	if err != nil {
		return err
	}
	defer func() { _ = m.close() }()
	s, err := newServing(o, m, zap.NewNop())
	if err != nil {
		return err
	}
	defer func() { _ = s.gw.Close() }()
	if err := s.open(); err != nil {
		return err
	}
	return s.endpoints.Close()
}
