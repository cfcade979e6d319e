package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// calls makes the spans of calls of their turns and records.
type calls struct {
	tracer  trace.Tracer
	content bool

	mu      sync.Mutex
	running map[string]*callSpan // from the first turn to the end
}

// callSpan is the span of a call that runs. The hooks of one call are called one after the other.
type callSpan struct {
	span  trace.Span
	began time.Time
	turns int
	said  string // by the caller, in the turn whose reply has not ended
}

// traced is the trace of a call, as headers: its own span as planned, the span of its request, and the state of both.
type traced struct{ own, parent, state string }

// begin returns the span of a call, which begins with the call.
func (c *calls) begin(id string, began time.Time, at traced) *callSpan {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.running[id]
	if s == nil {
		s = &callSpan{began: began}
		ctx := trace.ContextWithRemoteSpanContext(context.Background(), spanOf(at.parent, at.state))
		if own := spanOf(at.own, at.state); own.IsValid() {
			ctx = context.WithValue(ctx, plannedSpan{}, own)
		}
		_, s.span = c.tracer.Start(ctx, "call", trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("voicegw.call.id", id)))
		c.running[id] = s
	}
	return s
}

// turn makes the spans of an exchange that ended.
func (c *calls) turn(id string, began time.Time, in traced, t *voicegw.Turn) {
	call := c.begin(id, began, in)
	if t.End == "" { // the reply follows
		call.said = t.Text
		return
	}
	at := func(d time.Duration) trace.SpanEventOption { return trace.WithTimestamp(call.began.Add(d)) }
	ctx, span := c.tracer.Start(trace.ContextWithSpan(context.Background(), call.span), "turn", at(t.Began()),
		trace.WithAttributes(attribute.Int("voicegw.turn.number", call.turns), attribute.String("voicegw.turn.end",
			string(t.End))))
	call.turns++
	span.SetAttributes(c.turnAttributes(call, t)...)
	call.said = ""
	for _, s := range t.Stages {
		span.AddEvent(string(s.Name), at(s.At))
	}
	for i := range t.Tools {
		c.tool(ctx, at, &t.Tools[i])
	}
	if t.End == voicegw.TurnUnanswered || t.End == transport.TurnModelLost {
		span.SetStatus(codes.Error, string(t.End))
	}
	span.End(at(t.Ended))
}

// turnAttributes returns what is known of an exchange.
func (c *calls) turnAttributes(call *callSpan, t *voicegw.Turn) (list []attribute.KeyValue) {
	if t.Who == transport.WhoModel {
		list = append(list, attribute.Int64("voicegw.turn.heard_ms", t.HeardMS), attribute.Bool("voicegw.turn.prompt",
			t.Prompt))
	}
	if t.Latency > 0 {
		list = append(list, attribute.Int64("voicegw.turn.latency_ms", t.Latency.Milliseconds()))
	}
	if u := t.Usage; u != (transport.Usage{}) {
		list = append(list, attribute.Int("gen_ai.usage.input_tokens", int(u.Prompt)),
			attribute.Int("gen_ai.usage.output_tokens", int(u.Response)))
	}
	if !c.content {
		return list
	}
	caller, model := call.said, t.Text
	if t.Who == transport.WhoCaller {
		caller, model = t.Text, ""
	}
	for _, text := range [][2]string{{"voicegw.caller.text", caller}, {"voicegw.model.text", model}} {
		if text[1] != "" {
			list = append(list, attribute.String(text[0], text[1]))
		}
	}
	return list
}

// tool makes the span of a tool call.
func (c *calls) tool(ctx context.Context, at func(time.Duration) trace.SpanEventOption, t *voicegw.ToolCall) {
	_, span := c.tracer.Start(ctx, "execute_tool "+t.Name, at(t.Began), trace.WithAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", t.Name),
		attribute.String("voicegw.tool.result", t.Result)))
	if c.content {
		span.SetAttributes(attribute.String("gen_ai.tool.call.arguments", t.Args),
			attribute.String("gen_ai.tool.call.result", t.Answer))
	}
	if t.Result != "answered" && t.Result != "cancelled" {
		span.SetStatus(codes.Error, t.Result)
	}
	span.End(at(t.Ended))
}

// ended ends the span of a call.
func (c *calls) ended(r *voicegw.Record) {
	call := c.begin(r.Call, r.Began, traced{r.Trace, r.TraceParent, r.TraceState})
	c.mu.Lock()
	delete(c.running, r.Call)
	c.mu.Unlock()
	list := []attribute.KeyValue{attribute.String("voicegw.call.reason", r.Reason),
		attribute.Int("voicegw.call.replies", r.Replies), attribute.Int("voicegw.call.interrupted", r.Interrupted),
		attribute.Int("voicegw.call.links_lost", r.LinksLost)}
	for _, text := range [][2]string{{"voicegw.endpoint", r.Endpoint}, {"voicegw.carrier_call", r.CarrierCall},
		{"gen_ai.request.model", r.Model}} {
		if text[1] != "" {
			list = append(list, attribute.String(text[0], text[1]))
		}
	}
	call.span.SetAttributes(list...)
	if r.Error != "" {
		call.span.SetStatus(codes.Error, r.Reason)
	}
	call.span.End(trace.WithTimestamp(r.Began.Add(r.Duration)))
}
