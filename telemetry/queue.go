package telemetry

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"
)

// counts says what became of spans, and of exports of metrics. It is safe for concurrent use.
type counts struct {
	mu                           sync.Mutex
	waiting, sent, full, failed  int // spans
	metricsSent, metricsNotTaken int
	closed                       bool // nobody exports spans any more
}

// isClosed reports whether nobody exports spans any more.
func (c *counts) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// take counts a span that ended, and reports whether it may wait.
func (c *counts) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		c.failed++
		return false
	case c.waiting == QueueMax:
		c.full++
		return false
	}
	c.waiting++
	return true
}

// exported counts spans that waited.
func (c *counts) exported(n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed: // abandon has counted them
		return
	case err != nil:
		c.failed += n
	default:
		c.sent += n
	}
	c.waiting -= n
}

// abandon counts the spans that wait as lost.
func (c *counts) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed, c.waiting, c.closed = c.failed+c.waiting, 0, true
}

// metrics counts an export of metrics.
func (c *counts) metrics(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.metricsNotTaken++
	} else {
		c.metricsSent++
	}
}

// queue bounds the spans that wait, and counts those beyond: its processor would drop them silently.
type queue struct {
	sdktrace.SpanProcessor
	counts *counts
}

// OnEnd queues a span. It never blocks.
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() && q.counts.take() {
		q.SpanProcessor.OnEnd(s)
	}
}

// spanExporter counts what the backend takes. An error goes no further: the SDK would print it.
type spanExporter struct {
	sdktrace.SpanExporter
	counts *counts
	health health
}

// ExportSpans exports spans.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if e.counts.isClosed() {
		return nil
	}
	err := e.SpanExporter.ExportSpans(ctx, spans)
	e.counts.exported(len(spans), err)
	e.health.note(err)
	return nil
}

// metricExporter counts what the backend takes. An error goes no further.
type metricExporter struct {
	sdkmetric.Exporter
	counts *counts
	health health
}

// Export exports metrics.
func (e *metricExporter) Export(ctx context.Context, m *metricdata.ResourceMetrics) error {
	err := e.Exporter.Export(ctx, m)
	e.counts.metrics(err)
	e.health.note(err)
	return nil
}

// health logs when exports begin to fail, and when they succeed again. One goroutine at a time uses
// it.
type health struct {
	log    *zap.Logger
	what   string
	failed bool
}

func (h *health) note(err error) {
	switch {
	case err != nil && !h.failed:
		h.log.Warn("the telemetry backend does not take "+h.what+"; calls go on", zap.Error(err))
	case err == nil && h.failed:
		h.log.Info("the telemetry backend takes " + h.what + " again")
	}
	h.failed = err != nil
}

// collector collects the counts.
type collector struct {
	counts                  *counts
	spans, waiting, metrics *prometheus.Desc
}

// Collector returns what became of spans and of exports, for a prometheus.Registry.
func (t *Telemetry) Collector() prometheus.Collector {
	c := &collector{counts: &counts{},
		spans: prometheus.NewDesc("voicegw_otel_spans_total", "Spans of calls by what became of them: sent, or lost "+
			"because the queue was full (queue_full) or the backend did not take them (failed).", []string{"result"}, nil),
		waiting: prometheus.NewDesc("voicegw_otel_spans_waiting", "Spans that wait to be exported, at most 4,096.", nil, nil),
		metrics: prometheus.NewDesc("voicegw_otel_metric_exports_total",
			"Exports of metrics by OTLP, by result: sent or failed.", []string{"result"}, nil)}
	if t != nil {
		c.counts = &t.counts
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	ch <- c.spans
	ch <- c.waiting
	ch <- c.metrics
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	put := func(d *prometheus.Desc, kind prometheus.ValueType, n int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, float64(n), labels...)
	}
	n := c.counts
	n.mu.Lock()
	defer n.mu.Unlock()
	put(c.spans, prometheus.CounterValue, n.sent, "sent")
	put(c.spans, prometheus.CounterValue, n.full, "queue_full")
	put(c.spans, prometheus.CounterValue, n.failed, "failed")
	put(c.waiting, prometheus.GaugeValue, n.waiting)
	put(c.metrics, prometheus.CounterValue, n.metricsSent, "sent")
	put(c.metrics, prometheus.CounterValue, n.metricsNotTaken, "failed")
}
