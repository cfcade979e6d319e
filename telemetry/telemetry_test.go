package telemetry

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

func TestMain(m *testing.M) {
	// genai's dependency starts this one when the program does.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start"))
}

var epoch = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

const s = time.Second

// open opens a Telemetry.
func open(t *testing.T, cfg Config) *Telemetry {
	t.Helper()
	tel, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

// shut closes a Telemetry that has to export everything.
func shut(t *testing.T, tel *Telemetry) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := tel.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// conversation is a call of three exchanges.
func conversation(tel *Telemetry, id string) {
	c := tel.calls
	turn := func(t *voicegw.Turn) { c.turn(id, epoch, traced{}, t) }
	turn(&voicegw.Turn{Who: transport.WhoCaller, Text: "secret question"})
	turn(&voicegw.Turn{Who: transport.WhoModel, Text: "secret answer", End: transport.TurnInterrupted,
		HeardMS: 1240, Latency: s / 2, Ended: 9 * s, Usage: transport.Usage{Prompt: 20, Response: 10},
		Stages: []voicegw.Stage{{Name: voicegw.SpeechBegan, At: s}, {Name: voicegw.SpeechEnded, At: 2 * s},
			{Name: voicegw.SentFirst, At: 4 * s}, {Name: voicegw.Cleared, At: 8 * s}},
		Tools: []voicegw.ToolCall{{Name: "find_order", Result: "answered", Began: 2 * s, Ended: 3 * s, Args: "secret number",
			Answer: "secret state"}, {Name: "fail", Result: "failed", Began: 2 * s, Ended: 3 * s}}})
	turn(&voicegw.Turn{Who: transport.WhoCaller, End: voicegw.TurnUnanswered, Text: "secret again",
		Ended: 12 * s, Stages: []voicegw.Stage{{Name: voicegw.TurnEnded, At: 10 * s}}})
	c.ended(&voicegw.Record{Call: id, Endpoint: "twilio", CarrierCall: "CA17", From: "+4930123456", Began: epoch,
		Duration: 13 * s, Reason: "caller_hung_up", Model: "live", Error: "secret text of somebody"})
}

// TestTrace exports a call as one trace: the call, its exchanges with their stages, and their tool
// calls. Content is in it only if it is asked for, and telephone numbers never.
func TestTrace(t *testing.T) {
	t.Parallel()
	for _, content := range []bool{false, true} {
		b := newBackend(t)
		tel := open(t, Config{Endpoint: b.URL + "/", Traces: true, Content: content,
			Headers: map[string]string{"Authorization": "Bearer x"}})
		conversation(tel, "c-1")
		shut(t, tel)
		call, turns, tools := b.named("call"), b.named("turn"), b.named("execute_tool find_order")
		if len(call) != 1 || len(turns) != 2 || len(tools) != 1 || len(b.spans) != 5 || len(tel.calls.running) != 0 {
			t.Fatalf("the spans are %v", b.spans)
		}
		root := call[0]
		for _, one := range b.spans {
			parent := root.SpanId
			switch {
			case one == root:
				parent = nil
			case one.Name != "turn":
				parent = turns[0].SpanId
			}
			if !bytes.Equal(one.TraceId, root.TraceId) || !bytes.Equal(one.ParentSpanId, parent) {
				t.Errorf("%s is below %x, want %x", one.Name, one.ParentSpanId, parent)
			}
		}
		at := func(d time.Duration) uint64 { return uint64(epoch.Add(d).UnixNano()) }
		turn := turns[0]
		if turn.StartTimeUnixNano != at(s) || turn.EndTimeUnixNano != at(9*s) || len(turn.Events) != 4 ||
			turn.Events[3].Name != "cleared" || turn.Events[3].TimeUnixNano != at(8*s) {
			t.Errorf("the turn is %v", turn)
		}
		if root.StartTimeUnixNano != at(0) || root.EndTimeUnixNano != at(13*s) ||
			!strings.Contains(attributeOf(root, "voicegw.call.reason"), "caller_hung_up") ||
			!strings.Contains(attributeOf(root, "voicegw.carrier_call"), "CA17") || root.Status.Message != "caller_hung_up" {
			t.Errorf("the call is %v", root)
		}
		if tools[0].EndTimeUnixNano != at(3*s) || turns[1].Status.Message != "unanswered" {
			t.Errorf("the tool is %v, the second turn %v", tools[0], turns[1])
		}
		for _, words := range []string{"secret question", "secret answer", "secret number", "secret state", "secret again"} {
			if got := bytes.Contains(b.bodies.Bytes(), []byte(words)); got != content {
				t.Errorf("with content %v, %q is in the trace: %v", content, words, got)
			}
		}
		for _, never := range []string{"+4930123456", "secret text"} {
			if bytes.Contains(b.bodies.Bytes(), []byte(never)) {
				t.Errorf("%q is in the trace", never)
			}
		}
		if b.headers.Get("Authorization") != "Bearer x" || b.service != "voicegw" {
			t.Errorf("service %q, headers %v", b.service, b.headers)
		}
	}
}

// TestMetricsByOTLP exports what a registry has, native histograms too.
func TestMetricsByOTLP(t *testing.T) {
	t.Parallel()
	b := newBackend(t)
	registry := prometheus.NewRegistry()
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "voicegw_latency_seconds", Buckets: []float64{1, 2},
		NativeHistogramBucketFactor: 1.1})
	n := prometheus.NewCounter(prometheus.CounterOpts{Name: "voicegw_things_total"})
	registry.MustRegister(h, n)
	h.Observe(1.5)
	n.Add(3)
	tel := open(t, Config{Endpoint: b.URL, Metrics: registry})
	tel.Join(&voicegw.Hooks{})
	shut(t, tel)
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.metrics["voicegw_things_total"]; m.GetSum() == nil || m.GetSum().DataPoints[0].GetAsDouble() != 3 {
		t.Errorf("the counter is %v", m)
	}
	m := b.metrics["voicegw_latency_seconds"]
	if m.GetExponentialHistogram() == nil || m.GetExponentialHistogram().DataPoints[0].Count != 1 {
		t.Errorf("the histogram is %v", m)
	}
	if got := tel.count(t, "voicegw_otel_metric_exports_total", "sent"); got < 1 || len(b.spans) > 0 {
		t.Errorf("%v exports, %d spans", got, len(b.spans))
	}
}

// count reads a count from the collector.
func (t *Telemetry) count(tb testing.TB, name, result string) float64 {
	registry := prometheus.NewRegistry()
	registry.MustRegister(t.Collector())
	families, err := registry.Gather()
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == name && (result == "" || m.Label[0].GetValue() == result) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	tb.Fatalf("there is no %s of %s", name, result)
	return 0
}

// TestBackendGone has calls go on while the backend is down, refuses, or never answers: whoever ends a
// span does not wait, the queue is bounded, and every span that is lost is counted.
func TestBackendGone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := "http://" + l.Addr().String()
	_ = l.Close()
	stop := make(chan struct{})
	asleep := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", http.StatusForbidden)
	}))
	t.Cleanup(func() { close(stop); asleep.Close(); refuses.Close() })
	for name, url := range map[string]string{"down": down, "never answers": asleep.URL, "refuses": refuses.URL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log, logged := observer.New(zap.InfoLevel)
			tel := open(t, Config{Endpoint: url, Traces: true, Log: zap.New(log)})
			const calls = 1200
			for range calls {
				conversation(tel, "c-1")
			}
			waiting := tel.count(t, "voicegw_otel_spans_waiting", "")
			full := tel.count(t, "voicegw_otel_spans_total", "queue_full")
			if waiting > QueueMax || name == "never answers" && full < 5*calls-QueueMax-1024 {
				t.Errorf("%v spans wait, %v did not fit", waiting, full)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancel()
			_ = tel.Close(ctx) // it is not in time
			sent, failed := tel.count(t, "voicegw_otel_spans_total", "sent"), tel.count(t, "voicegw_otel_spans_total", "failed")
			full = tel.count(t, "voicegw_otel_spans_total", "queue_full")
			if sent != 0 || failed+full != 5*calls || tel.count(t, "voicegw_otel_spans_waiting", "") != 0 {
				t.Errorf("of %d spans %v were sent, %v failed and %v did not fit", 5*calls, sent, failed, full)
			}
			if name == "refuses" && logged.Len() != 1 {
				t.Errorf("it logs %d lines", logged.Len())
			}
		})
	}
}

// TestBackendComesBack sends again when the backend takes spans again, and logs that once.
func TestBackendComesBack(t *testing.T) {
	t.Parallel()
	log, logged := observer.New(zap.InfoLevel)
	h := health{log: zap.New(log), what: "traces"}
	for _, err := range []error{nil, context.DeadlineExceeded, context.DeadlineExceeded, nil, nil} {
		h.note(err)
	}
	if list := logged.All(); len(list) != 2 || !strings.Contains(list[0].Message, "does not take traces") ||
		!strings.Contains(list[1].Message, "again") {
		t.Errorf("it logs %v", list)
	}
}

// TestEnvironment: OpenTelemetry's own variables say who the service is and what it sends; those that
// name another backend, or nonsense, do no harm.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{"OTEL_SERVICE_NAME": "desk", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=17",
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "tcp://10.0.0.1:80",
		"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_BSP_MAX_QUEUE_SIZE": "1", "OTEL_BSP_SCHEDULE_DELAY": "soon",
		"OTEL_TRACES_EXPORTER": "none", "OTEL_RESOURCE_ATTRIBUTES": "nonsense"} {
		t.Setenv(name, value)
	}
	b := newBackend(t)
	tel := open(t, Config{Endpoint: b.URL, Traces: true})
	for range 20 {
		conversation(tel, "c-1")
	}
	shut(t, tel)
	if len(b.spans) != 100 || b.headers.Get("X-Key") != "17" || b.service != "desk" {
		t.Errorf("%d spans of %q with headers %v", len(b.spans), b.service, b.headers)
	}
}

// TestNone refuses an address that is none, and does nothing when there is no Telemetry.
func TestNone(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "127.0.0.1:4318", "ftp://x", "http://", "http://%zz"} {
		if _, err := New(t.Context(), Config{Endpoint: url, Traces: true}); err == nil ||
			!strings.Contains(err.Error(), "want an http or https URL") {
			t.Errorf("%q: %v", url, err)
		}
	}
	var none *Telemetry
	var h voicegw.Hooks
	if none.Join(&h); h.Turn != nil || none.Close(t.Context()) != nil {
		t.Error("no Telemetry does something")
	}
	if n := testutil.CollectAndCount(none.Collector()); n != 6 {
		t.Errorf("%d counts, want 6", n)
	}
}
