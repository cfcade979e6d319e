package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/telemetry"
)

// telemetryCloseWait is how long the end of serve waits for a backend that does not answer.
const telemetryCloseWait = 2 * time.Second

// telemetryConfig returns what is exported, and where to. Nothing is exported if the settings ask for neither traces
// nor metrics.
func telemetryConfig(set *settings.Settings, registry prometheus.Gatherer, log *zap.Logger) (telemetry.Config, error) {
	t := &set.Telemetry
	if !t.On() {
		return telemetry.Config{}, nil
	}
	headers, err := t.Headers(set)
	cfg := telemetry.Config{Endpoint: t.Endpoint, Headers: headers, Traces: t.Traces, Content: t.Content,
		Version: version(), Log: log.Named("telemetry")}
	if t.Metrics {
		cfg.Metrics = registry
	}
	return cfg, err
}

// joinTelemetry exports the traces of calls, and metrics. Commands that take no calls leave it out.
func joinTelemetry(s *serving, cfg *voicegw.Config) (err error) {
	if s.settings.Telemetry.On() {
		var config telemetry.Config
		if config, err = telemetryConfig(s.settings, s.registry, s.log); err == nil {
			s.telemetry, err = telemetry.New(context.Background(), config)
		}
	}
	s.telemetry.Join(&cfg.Hooks)
	return err
}

// telemetry asks the telemetry backend to take an export of nothing.
func (d *doctor) telemetry(ctx context.Context) (f checkResults) {
	t := &d.set.Telemetry
	if !t.On() {
		return nil
	}
	config, err := telemetryConfig(d.set, prometheus.NewRegistry(), zap.NewNop())
	if err != nil {
		f.failed("telemetry", &usageError{err})
		return f
	}
	if err := telemetry.Probe(ctx, config); err != nil {
		f.add("telemetry", statusFail, "check that the backend takes OTLP over HTTP at otel.endpoint (port 4318; 4317 "+
			"speaks gRPC), and the headers of otel.headers_file; calls go on without it", "%s: %v", t.Endpoint, err)
		return f
	}
	f.add("telemetry", statusOK, "", "%s takes OTLP", t.Endpoint)
	return f
}

// closeTelemetry exports what waits, but not long for a backend that does not answer.
func (s *serving) closeTelemetry() {
	ctx, cancel := context.WithTimeout(context.Background(), telemetryCloseWait)
	defer cancel()
	if err := s.telemetry.Close(ctx); err != nil {
		s.log.Warn("the telemetry backend did not take everything in time", zap.Error(err))
	}
}
