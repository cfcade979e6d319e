package telemetry

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	metric "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// backend is a server that takes OTLP over HTTP.
type backend struct {
	*httptest.Server

	mu      sync.Mutex
	spans   []*trace.Span
	metrics map[string]*metric.Metric
	service string
	headers http.Header // of the newest request
	bodies  bytes.Buffer
}

func newBackend(t *testing.T) *backend {
	b := &backend{metrics: map[string]*metric.Metric{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(_ http.ResponseWriter, r *http.Request) {
		var m traces.ExportTraceServiceRequest
		b.take(t, r, &m)
		for _, rs := range m.ResourceSpans {
			for _, a := range rs.Resource.Attributes {
				if a.Key == "service.name" {
					b.service = a.Value.GetStringValue()
				}
			}
			for _, s := range rs.ScopeSpans {
				b.spans = append(b.spans, s.Spans...)
			}
		}
		b.mu.Unlock()
	})
	mux.HandleFunc("POST /v1/metrics", func(_ http.ResponseWriter, r *http.Request) {
		var m metrics.ExportMetricsServiceRequest
		b.take(t, r, &m)
		for _, rm := range m.ResourceMetrics {
			for _, s := range rm.ScopeMetrics {
				for _, one := range s.Metrics {
					b.metrics[one.Name] = one
				}
			}
		}
		b.mu.Unlock()
	})
	b.Server = httptest.NewServer(mux)
	t.Cleanup(b.Close)
	return b
}

// take decodes a request, and holds mu.
func (b *backend) take(t *testing.T, r *http.Request, m proto.Message) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = proto.Unmarshal(body, m)
	}
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("%s of %s: %v", r.URL, r.Header.Get("Content-Type"), err)
	}
	b.mu.Lock()
	b.headers = r.Header
	b.bodies.Write(body)
}

// named returns the spans of a name, the oldest first.
func (b *backend) named(name string) (list []*trace.Span) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.spans {
		if s.Name == name {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(x, y *trace.Span) int { return int(x.StartTimeUnixNano) - int(y.StartTimeUnixNano) })
	return list
}

// attribute returns an attribute of a span as text.
func attributeOf(s *trace.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}
