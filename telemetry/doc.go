// Package telemetry exports the traces of calls, and metrics, by OTLP: OpenTelemetry's protocol, over
// HTTP.
//
//	t, err := telemetry.New(ctx, telemetry.Config{Endpoint: "http://127.0.0.1:4318", Traces: true})
//	t.Join(&cfg.Hooks)     // before voicegw.New(cfg)
//	defer t.Close(ctx)     // after the gateway's Close
//
// A call is one trace. Its span "call" has a span "turn" for each exchange, with the stages of the
// exchange as events, and below that a span for each tool call. Spans have names, times and numbers.
// They have what was said, and what tools were asked and answered, only with Config.Content.
//
// No call waits for the backend. Spans wait in a bounded queue; those beyond it, and those that the
// backend does not take, are lost and counted in Collector.
package telemetry
