package adkagent

import (
	"context"
	"encoding/json"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"
)

// newTracer returns ADK's tracer: the same name and attributes, so that its web page and exporters find our
// spans.
func newTracer() trace.Tracer { return otel.GetTracerProvider().Tracer("gcp.vertex.agent") }

// noSpan ends the span of a call that nobody records.
func noSpan(string, map[string]any, error) {}

// startToolSpan starts the span of a call. The function that it returns ends the span. Without a span, the
// context is nil.
func startToolSpan(ctx context.Context, tracer trace.Tracer, c *genai.FunctionCall) (context.Context,
	func(description string, response map[string]any, err error)) {
	ctx, span := tracer.Start(ctx, "execute_tool "+c.Name)
	if !span.IsRecording() {
		span.End()
		return nil, noSpan
	}
	span.SetAttributes(attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", c.Name), attribute.String("gen_ai.tool.call.id", c.ID),
		attribute.String("gcp.vertex.agent.tool_call_args", asJSON(c.Args)))
	return ctx, func(description string, response map[string]any, err error) {
		span.SetAttributes(attribute.String("gen_ai.tool.description", description),
			attribute.String("gcp.vertex.agent.tool_response", asJSON(response)))
		endSpan(span, err)
	}
}

// noModelSpan ends the span of a request that nobody records.
func noModelSpan(string, *model.LLMResponse, error) {}

// startModelSpan starts the span of a request. The function that it returns ends the span.
func (c *core) startModelSpan(ctx context.Context, name, invocation string) (context.Context,
	func(event string, r *model.LLMResponse, err error)) {
	ctx, span := c.tracer.Start(ctx, "generate_content "+name)
	if !span.IsRecording() {
		span.End()
		return ctx, noModelSpan
	}
	span.SetAttributes(attribute.String("gen_ai.operation.name", "generate_content"),
		attribute.String("gen_ai.request.model", name), attribute.String("gcp.vertex.agent.invocation_id", invocation))
	return ctx, func(event string, r *model.LLMResponse, err error) {
		if r != nil {
			span.SetAttributes(attribute.String("gcp.vertex.agent.event_id", event),
				attribute.StringSlice("gen_ai.response.finish_reasons", []string{string(r.FinishReason)}))
			if u := r.UsageMetadata; u != nil {
				span.SetAttributes(attribute.Int("gen_ai.usage.input_tokens", int(u.PromptTokenCount)),
					attribute.Int("gen_ai.usage.output_tokens", int(u.CandidatesTokenCount+u.ThoughtsTokenCount)))
			}
		}
		endSpan(span, err)
	}
}

func endSpan(span trace.Span, err error) {
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "<not serializable>"
	}
	return string(b)
}
