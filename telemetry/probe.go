package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Probe asks the backend of a Config to take exports of nothing: of traces, and of metrics if
// Config.Metrics is not nil. It tries once. The error says what the backend does not take.
func Probe(ctx context.Context, cfg Config) error {
	if err := cfg.check(); err != nil {
		return err
	}
	if cfg.Traces {
		options := append(traceOptions(&cfg), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{}))
		to := otlptracehttp.NewClient(options...)
		err := to.Start(ctx)
		if err == nil {
			err = to.UploadTraces(ctx, nil)
			_ = to.Stop(ctx)
		}
		if err != nil {
			return fmt.Errorf("telemetry: traces: %w", err)
		}
	}
	if cfg.Metrics == nil {
		return nil
	}
	options := append(metricOptions(&cfg), otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}))
	to, err := otlpmetrichttp.New(ctx, options...)
	if err == nil {
		err = to.Export(ctx, &metricdata.ResourceMetrics{})
		_ = to.Shutdown(ctx)
	}
	if err != nil {
		return fmt.Errorf("telemetry: metrics: %w", err)
	}
	return nil
}
