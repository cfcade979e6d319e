package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
	"github.com/voicegw/voicegw/transport/ws"
)

// otlp is a backend that keeps what it gets.
type otlp struct {
	*httptest.Server

	mu      sync.Mutex
	spans   []*trace.Span
	metrics string // what came to /v1/metrics
}

func newOTLP(t *testing.T) *otlp {
	o := &otlp{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		o.mu.Lock()
		defer o.mu.Unlock()
		if r.Header.Get("X-Key") != "17" {
			t.Errorf("%s has the headers %v", r.URL, r.Header)
		}
		if r.URL.Path == "/v1/metrics" {
			o.metrics += string(body)
			return
		}
		var m traces.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &m)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		for _, rs := range m.ResourceSpans {
			for _, s := range rs.ScopeSpans {
				o.spans = append(o.spans, s.Spans...)
			}
		}
	}))
	t.Cleanup(o.Close)
	return o
}

// TestTelemetryOfServe takes a call with a tool call: a backend gets it as one trace, without what was
// said, and the metrics. Variables of a cluster that name another backend do no harm.
func TestTelemetryOfServe(t *testing.T) {
	t.Parallel()
	backend := newOTLP(t)
	model := scripted(t, "about A model with a tool.\non turn 1: call find_order {\"number\":\"secret17\"}")
	crm := newCRM(t, map[string]string{"/order": `{"result":{"state":"secret42"}}`})
	tools := writeFile(t, "tools.json", fmt.Appendf(nil,
		`[{"name":"find_order","description":"finds an order","url":%q}]`, crm.URL+"/order"))
	s := startServe(t, []string{"VOICEGW_GREETING=", "GEMINI_API_KEY=k", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://10.0.0.1:4317", "OTEL_PORT=tcp://10.0.0.1:80",
		"VOICEGW_OTEL_PORT=tcp://10.0.0.1:80"}, "--model-base-url", model.URL(), "--session-tools-file", tools,
		"--webhooks-secret-file", writeFile(t, "secret", []byte(hookSecret)), "--webhooks-allow", "127.0.0.1",
		"--otel-export", "both", "--otel-endpoint", backend.URL,
		"--otel-headers-file", writeFile(t, "headers", []byte("X-Key: 17\n")))
	command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "question"), "--out",
		filepath.Join(t.TempDir(), "heard.wav")).want(t, 0)
	s.end()
	backend.mu.Lock()
	defer backend.mu.Unlock()
	var told []string
	ids := map[string]bool{}
	for _, span := range backend.spans {
		ids[string(span.TraceId)] = true
		line := span.Name
		for _, e := range span.Events {
			line += " " + e.Name
		}
		told = append(told, line)
		if strings.Contains(span.String(), "secret") || strings.Contains(span.String(), "question") {
			t.Errorf("a span has content: %v", span)
		}
	}
	want := "execute_tool find_order; turn speech_began speech_ended turn_ended model_first sent_first played_first; call"
	if got := strings.Join(told, "; "); got != want || len(ids) != 1 {
		t.Errorf("%d traces: %s; want %s\n%s", len(ids), got, want, s.stderr.String())
	}
	for _, name := range []string{"voicegw_calls_ended_total", "voicegw_answer_latency_seconds",
		"voicegw_otel_spans_total"} {
		if !strings.Contains(backend.metrics, name) {
			t.Errorf("the backend has no metric %s", name)
		}
	}
}

// TestTraceContinues: a call continues the trace of its request, and passes on its own span to webhooks. With no export
// it passes on the span of the request.
func TestTraceContinues(t *testing.T) {
	t.Parallel()
	const incoming = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, exports := range []bool{true, false} {
		backend := newOTLP(t)
		var mu sync.Mutex
		got := map[string]string{} // the header by path
		crm := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			got[r.URL.Path] = r.Header.Get("Traceparent") + " " + r.Header.Get("Tracestate")
		}))
		model := scripted(t, "on text 1: call orders {}")
		args := []string{"--model-base-url", model.URL(), "--webhooks-secret-file", writeFile(t, "s", []byte(hookSecret)),
			"--webhooks-allow", "127.0.0.1", "--webhooks-begin-url", crm.URL + "/begin", "--webhooks-end-url", crm.URL + "/end",
			"--session-tools-file", writeFile(t, "tools.json", fmt.Appendf(nil, `[{"name":"orders","url":%q}]`,
				crm.URL+"/tool"))}
		if exports {
			args = append(args, "--otel-export", "traces", "--otel-endpoint", backend.URL, "--otel-headers-file",
				writeFile(t, "headers", []byte("X-Key: 17\n")))
		}
		s := startServe(t, nil, args...)
		call, err := ws.Dial(t.Context(), s.voiceURL, transport.Hello{InputRateHz: 8000, OutputRateHz: 8000},
			ws.DialConfig{Header: http.Header{"Traceparent": {incoming}, "Tracestate": {"a=b"}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := call.SendEvent(t.Context(), &transport.Event{Kind: transport.EventText, Text: "My order?"}); err != nil {
			t.Fatal(err)
		}
		came := func(path string) bool { mu.Lock(); defer mu.Unlock(); _, ok := got[path]; return ok }
		if !waitFor(func() bool { return came("/tool") }, patience) {
			t.Error("the function was not asked")
		}
		_ = call.Close()
		s.end()
		crm.Close()
		want := incoming
		backend.mu.Lock()
		for _, span := range backend.spans {
			if span.Name == "call" {
				want = fmt.Sprintf("00-%x-%x-01", span.TraceId, span.SpanId)
				if parent := fmt.Sprintf("00-%x-%x-01", span.TraceId, span.ParentSpanId); parent != incoming {
					t.Errorf("the parent of the call is %s", parent)
				}
			}
		}
		backend.mu.Unlock()
		if (want == incoming) == exports {
			t.Errorf("with export %t the call has the span %s", exports, want)
		}
		for _, path := range []string{"/begin", "/tool", "/end"} {
			if got[path] != want+" a=b" {
				t.Errorf("%s gets the trace %q, want %q and the state", path, got[path], want)
			}
		}
	}
}

// TestTraceOfEndpoints: a WHIP request and the streams of carriers continue a trace too.
func TestTraceOfEndpoints(t *testing.T) {
	t.Parallel()
	backend := newOTLP(t)
	model := scripted(t, "")
	s := startServe(t, nil, "--model-base-url", model.URL(), "--endpoints", "webrtc,twilio,asterisk", "--otel-export",
		"traces", "--otel-endpoint", backend.URL, "--otel-headers-file", writeFile(t, "headers", []byte("X-Key: 17\n")))
	parent := func(n int) string { return fmt.Sprintf("00-0af7651916cd43dd8448eb211c80319c-%016x-01", n) }
	header := func(n int) http.Header { return http.Header{"Traceparent": {parent(n)}} }
	for n, dialect := range map[int]string{1: phonetest.Twilio, 2: phonetest.Asterisk} {
		path := map[int]string{1: "v1/twilio", 2: "v1/asterisk"}[n]
		p, err := phonetest.Dial(t.Context(), phonetest.Config{URL: strings.Replace(s.url, "http", "ws", 1) + path,
			Dialect: dialect, Header: header(n)})
		if err != nil {
			t.Fatal(err)
		}
		s.stderr.waitFor(t, `"endpoint": "`+strings.TrimPrefix(path, "v1/")) // the call has begun
		p.HangUp()
	}
	request := func(method, url, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header(3)
		r.Header.Set("Content-Type", "application/sdp")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp
	}
	resp := request("POST", s.url+"v1/whip", newRelayedCall(t).offer(t))
	request("DELETE", strings.TrimSuffix(s.url, "/")+resp.Header.Get("Location"), "")
	s.end()
	backend.mu.Lock()
	defer backend.mu.Unlock()
	parents := map[string]bool{}
	for _, span := range backend.spans {
		if span.Name == "call" {
			parents[fmt.Sprintf("00-%x-%x-01", span.TraceId, span.ParentSpanId)] = true
		}
	}
	if len(parents) != 3 || !parents[parent(1)] || !parents[parent(2)] || !parents[parent(3)] {
		t.Errorf("the parents of the calls are %v\n%s", parents, s.stderr.String())
	}
}

// TestChecksExportNothing: serve --check takes no call, and exports nothing.
func TestChecksExportNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer backend.Close()
	startWith(t, noProof, []string{"OTEL_METRIC_EXPORT_INTERVAL=1"}, nil, "serve", "--check", "--listen", "127.0.0.1:0",
		"--otel-export", "both", "--otel-endpoint", backend.URL).result().want(t, 0)
	if n := asked.Load(); n != 0 {
		t.Errorf("the backend was asked %d times", n)
	}
}

// TestServeWithoutABackend takes calls and ends while nobody takes what is exported, and refuses
// headers that are none.
func TestServeWithoutABackend(t *testing.T) {
	t.Parallel()
	s := startServe(t, nil, "--otel-export", "both", "--otel-endpoint", "http://127.0.0.1:1")
	command(t, nil, "call", "--url", s.voiceURL, "--in", speech(t, "question"), "--out",
		filepath.Join(t.TempDir(), "heard.wav")).want(t, 0)
	s.end()
	if said := s.stderr.String(); !strings.Contains(said, "the telemetry backend does not take traces; calls go on") {
		t.Errorf("the log does not say that the backend is down:\n%s", said)
	}
	bad := writeFile(t, "headers", []byte("Authorization Bearer x\n"))
	command(t, nil, "serve", "--check", "--otel-export", "traces", "--otel-headers-file", bad).want(t, 2,
		"line 1 of "+bad+" is no header")
}
