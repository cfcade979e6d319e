package telemetry

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// incoming is the header of somebody's span.
const incoming = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// state is the header of its trace.
const state = "vendor=opaque,other=1"

// begun is the hello of a request with a header traceparent, after Hooks.Begin.
func begun(t *testing.T, tel *Telemetry, header string) *transport.Hello {
	t.Helper()
	var h voicegw.Hooks
	tel.Join(&h)
	hello := &transport.Hello{Trace: "of the client", TraceParent: "of the client", TraceState: "of the client"}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/voice", nil)
	if header != "" {
		r.Header.Set("Traceparent", header)
		r.Header.Set("Tracestate", state)
	}
	Continue(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := h.Begin(r.Context(), hello); err != nil {
			t.Error(err)
		}
	})).ServeHTTP(httptest.NewRecorder(), r)
	return hello
}

// TestPassOn: without traces the header of the request is passed on as it is, and one that is wrong is not.
func TestPassOn(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{incoming: incoming, "": "", "nonsense": "",
		strings.Replace(incoming, "b7ad6b7169203331", "0000000000000000", 1): "",
		strings.Replace(incoming, "00-", "ff-", 1):                           "",
		incoming + "-more": "", incoming + "\r\nX-Other: 1": ""} {
		wantState := ""
		if want != "" {
			wantState = state
		}
		hello := begun(t, nil, header)
		if hello.Trace != want || hello.TraceParent != want || hello.TraceState != wantState {
			t.Errorf("%q is passed on as %q, %q, %q", header, hello.Trace, hello.TraceParent, hello.TraceState)
		}
	}
}

// TestContinue: the span of a call continues the trace of its request, and has the id that the call passed on before
// the span began. A call of which no turn came has both too.
func TestContinue(t *testing.T) {
	t.Parallel()
	for _, header := range []string{incoming, ""} {
		b := newBackend(t)
		tel := open(t, Config{Endpoint: b.URL, Traces: true})
		planned := map[string]bool{}
		for _, id := range []string{"c-1", "c-2"} {
			hello := begun(t, tel, header)
			if id == "c-1" {
				tel.calls.turn(id, epoch, traced{hello.Trace, hello.TraceParent, hello.TraceState},
					&voicegw.Turn{Who: transport.WhoCaller, End: voicegw.TurnUnanswered, Ended: s})
			}
			tel.calls.ended(&voicegw.Record{Call: id, Began: epoch, Duration: 2 * s, Trace: hello.Trace,
				TraceParent: hello.TraceParent, TraceState: hello.TraceState})
			planned[hello.Trace] = true
		}
		shut(t, tel)
		calls := b.named("call")
		if len(calls) != 2 || len(planned) != 2 {
			t.Fatalf("%d calls, %d planned", len(calls), len(planned))
		}
		for _, span := range calls {
			own := "00-" + hex.EncodeToString(span.TraceId) + "-" + hex.EncodeToString(span.SpanId) + "-01"
			if (header != "") != (span.TraceState == state) {
				t.Errorf("the state of the trace is %q", span.TraceState)
			}
			if !planned[own] {
				t.Errorf("the span of a call is %s, and planned were %v", own, planned)
			}
			parent := ""
			if len(span.ParentSpanId) > 0 {
				parent = "00-" + hex.EncodeToString(span.TraceId) + "-" + hex.EncodeToString(span.ParentSpanId) + "-01"
			}
			if parent != header {
				t.Errorf("the parent of the span is %q, want %q", parent, header)
			}
		}
		if turns := b.named("turn"); len(turns) != 1 || string(turns[0].ParentSpanId) == "" {
			t.Errorf("the turns are %v", turns)
		}
	}
}

// TestNotSampled: a request whose trace is not sampled has a call that is not exported, and passes that on.
func TestNotSampled(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	tel := open(t, Config{Endpoint: b.URL, Traces: true})
	hello := begun(t, tel, strings.TrimSuffix(incoming, "01")+"00")
	tel.calls.ended(&voicegw.Record{Call: "c-1", Began: epoch, Trace: hello.Trace, TraceParent: hello.TraceParent})
	shut(t, tel)
	if len(b.spans) != 0 || !strings.HasSuffix(hello.Trace, "-00") || !strings.HasPrefix(hello.Trace, incoming[:35]) {
		t.Errorf("%d spans, passed on as %s", len(b.spans), hello.Trace)
	}
}

// TestProbe: a backend that takes exports passes, and gets exports of nothing alone. What it does not take is named.
func TestProbe(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	both := Config{Endpoint: b.URL, Traces: true, Metrics: prometheus.NewRegistry(),
		Headers: map[string]string{"Authorization": "Bearer x"}}
	if err := Probe(t.Context(), both); err != nil || b.headers.Get("Authorization") != "Bearer x" ||
		len(b.spans) != 0 {
		t.Errorf("%v, with %v: %d spans", err, b.headers, len(b.spans))
	}
	answers := func(status int, path string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				w.WriteHeader(status)
			}
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for want, url := range map[string]string{"telemetry: traces: ": "http://127.0.0.1:1",
		"401":                  answers(401, "/v1/traces"),
		"telemetry: metrics: ": answers(404, "/v1/metrics"), "telemetry: traces: retry": answers(503, "/v1/traces"),
		"want an http or https URL": "127.0.0.1:4318"} {
		cfg := both
		cfg.Endpoint = url
		if err := Probe(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Probe(ctx, both); err == nil {
		t.Error("a probe that is over passes")
	}
}
