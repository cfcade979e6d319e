package main

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/telemetry"
)

// telemetryCloseWait is how long the end of serve waits for a backend that does not answer.
const telemetryCloseWait = 2 * time.Second

// openTelemetry returns what exports traces and metrics, or nil if the settings ask for neither.
func openTelemetry(set *settings.Settings, registry *prometheus.Registry, log *zap.Logger) (*telemetry.Telemetry,
	error) {
	t := &set.Telemetry
	if !t.On() {
		return nil, nil
	}
	headers, err := t.Headers(set)
	if err != nil {
		return nil, err
	}
	cfg := telemetry.Config{Endpoint: t.Endpoint, Headers: headers, Traces: t.Traces, Content: t.Content,
		Version: version(), Log: log.Named("telemetry")}
	if t.Metrics {
		cfg.Metrics = registry
	}
	return telemetry.New(context.Background(), cfg)
}

// closeTelemetry exports what waits, but not long for a backend that does not answer.
func (s *serving) closeTelemetry() {
	ctx, cancel := context.WithTimeout(context.Background(), telemetryCloseWait)
	defer cancel()
	if err := s.telemetry.Close(ctx); err != nil {
		s.log.Warn("the telemetry backend did not take everything in time", zap.Error(err))
	}
}
