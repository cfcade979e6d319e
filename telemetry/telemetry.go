package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
)

// Limits of what waits for the backend.
const (
	// QueueMax is how many spans may wait. One more is lost.
	QueueMax = 4096
	// ExportTime limits one export with its repetitions.
	ExportTime = 30 * time.Second
)

// Config configures a Telemetry.
type Config struct {
	// Endpoint is the address of the backend, such as http://127.0.0.1:4318. Spans go to /v1/traces
	// below it, metrics to /v1/metrics. Required.
	Endpoint string
	// Headers are sent with each request. nil: those of OTEL_EXPORTER_OTLP_HEADERS.
	Headers map[string]string
	// Traces exports the traces of calls.
	Traces bool
	// Content adds what was said, and the arguments and answers of tools, to spans.
	Content bool
	// Metrics, if not nil, are exported once a minute, or as OTEL_METRIC_EXPORT_INTERVAL says.
	Metrics prometheus.Gatherer
	// Version is that of the program.
	Version string
	// Log gets a line when exports begin to fail, and one when they succeed again. nil: none.
	Log *zap.Logger
}

func (cfg *Config) check() error {
	u, err := url.Parse(cfg.Endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("telemetry: Endpoint is %q; want an http or https URL such as http://127.0.0.1:4318", cfg.Endpoint)
	}
	return nil
}

// traceOptions are those of the exporter of traces, but for its retries.
func traceOptions(cfg *Config) []otlptracehttp.Option {
	options := []otlptracehttp.Option{
		otlptracehttp.WithEndpointURL(strings.TrimSuffix(cfg.Endpoint, "/") + "/v1/traces")}
	if cfg.Headers != nil {
		options = append(options, otlptracehttp.WithHeaders(cfg.Headers))
	}
	return options
}

// metricOptions are those of the exporter of metrics, but for its retries.
func metricOptions(cfg *Config) []otlpmetrichttp.Option {
	options := []otlpmetrichttp.Option{
		otlpmetrichttp.WithEndpointURL(strings.TrimSuffix(cfg.Endpoint, "/") + "/v1/metrics")}
	if cfg.Headers != nil {
		options = append(options, otlpmetrichttp.WithHeaders(cfg.Headers))
	}
	return options
}

// Telemetry exports traces and metrics. A nil *Telemetry exports nothing. It is safe for concurrent
// use.
type Telemetry struct {
	calls   *calls // nil: no traces
	counts  counts
	tracers *sdktrace.TracerProvider
	spans   sdktrace.SpanExporter // of tracers
	meters  *sdkmetric.MeterProvider
}

// New returns a Telemetry. It does not wait for the backend. Close must follow.
func New(ctx context.Context, cfg Config) (*Telemetry, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	res, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(), resource.WithAttributes(
		attribute.String("service.name", "voicegw"), attribute.String("service.version", cfg.Version)),
		resource.WithFromEnv())
	if err != nil {
		cfg.Log.Warn("OTEL_RESOURCE_ATTRIBUTES is not read", zap.Error(err))
	}
	t := &Telemetry{}
	if cfg.Traces {
		err = t.openTraces(ctx, res, &cfg)
	}
	if cfg.Metrics != nil && err == nil {
		err = t.openMetrics(ctx, res, &cfg)
	}
	if err != nil {
		_ = t.Close(ctx)
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return t, nil
}

// Retries of one export.
const (
	retryFirst = time.Second
	retryMost  = 5 * time.Second
	retryTime  = 20 * time.Second
)

// openTraces begins the export of spans.
func (t *Telemetry) openTraces(ctx context.Context, res *resource.Resource, cfg *Config) error {
	options := append(traceOptions(cfg), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true,
		InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: retryTime}))
	to, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return err
	}
	t.spans = to
	q := &queue{counts: &t.counts}
	q.SpanProcessor = sdktrace.NewBatchSpanProcessor(
		&spanExporter{SpanExporter: to, counts: &t.counts, health: health{log: cfg.Log, what: "traces"}},
		sdktrace.WithMaxQueueSize(QueueMax), sdktrace.WithExportTimeout(ExportTime))
	t.tracers = sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithSpanProcessor(q),
		sdktrace.WithIDGenerator(spanIDs{}))
	t.calls = &calls{tracer: t.tracers.Tracer("github.com/voicegw/voicegw"), content: cfg.Content,
		running: map[string]*callSpan{}}
	return nil
}

// openMetrics begins the export of metrics.
func (t *Telemetry) openMetrics(ctx context.Context, res *resource.Resource, cfg *Config) error {
	options := append(metricOptions(cfg), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true,
		InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: retryTime}))
	to, err := otlpmetrichttp.New(ctx, options...)
	if err != nil {
		return err
	}
	reader := sdkmetric.NewPeriodicReader(
		&metricExporter{Exporter: to, counts: &t.counts, health: health{log: cfg.Log, what: "metrics"}},
		sdkmetric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(cfg.Metrics))))
	t.meters = sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(reader))
	return nil
}

// Join adds the hooks that traces need. Those of turns and records come behind those that are there. Begin comes first:
// hello.Trace is the span of the call for whatever the call asks others, or without traces the one of its request; see
// Continue.
func (t *Telemetry) Join(h *voicegw.Hooks) {
	t.joinBegin(h)
	if t == nil || t.calls == nil {
		return
	}
	turn, ended := h.Turn, h.Ended
	h.Turn = func(s *voicegw.Session, one voicegw.Turn) {
		hello := s.Hello()
		t.calls.turn(s.ID(), s.State().Began, traced{hello.Trace, hello.TraceParent, hello.TraceState}, &one)
		if turn != nil {
			turn(s, one)
		}
	}
	h.Ended = func(r voicegw.Record) {
		t.calls.ended(&r)
		if ended != nil {
			ended(r)
		}
	}
}

// Close exports what waits until ctx is done; what is left then is lost and counted. Call it when the
// gateway is closed.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	var errs []error
	if t.tracers != nil {
		errs = append(errs, t.tracers.Shutdown(ctx))
		t.counts.abandon()
		_ = t.spans.Shutdown(ctx) // ends an export that is under way; it may have ended before
	}
	if t.meters != nil {
		errs = append(errs, t.meters.Shutdown(ctx))
	}
	return errors.Join(errs...)
}
