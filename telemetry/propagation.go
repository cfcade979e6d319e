package telemetry

import (
	"context"
	"math/rand/v2"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// traceparentName and tracestateName are the headers of W3C Trace Context.
const (
	traceparentName = "traceparent"
	tracestateName  = "tracestate"
)

// Continue lets the calls that next takes continue the trace of their request: its headers traceparent and tracestate
// (W3C Trace Context). Join passes them on. A header that is wrong counts as none.
func Continue(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(traceparentName) != "" {
			r = r.WithContext(propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header)))
		}
		next.ServeHTTP(w, r)
	})
}

// traceparent returns a span as a header, "" for none.
func traceparent(s trace.SpanContext) string {
	m := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(trace.ContextWithRemoteSpanContext(context.Background(), s), m)
	return m[traceparentName]
}

// spanOf returns the span of headers.
func spanOf(parent, state string) trace.SpanContext {
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(),
		propagation.MapCarrier{traceparentName: parent, tracestateName: state}))
}

// joinBegin has hellos name the span of the request, and the span of the call. Without traces that is
// the span of the request: it is passed on.
func (t *Telemetry) joinBegin(h *voicegw.Hooks) {
	begin := h.Begin
	h.Begin = func(ctx context.Context, hello *transport.Hello) (*voicegw.Plan, error) {
		of := trace.SpanContextFromContext(ctx)
		hello.TraceParent, hello.TraceState = traceparent(of), of.TraceState().String()
		if hello.Trace = hello.TraceParent; t != nil && t.calls != nil {
			hello.Trace = t.calls.plan(of)
		}
		if begin == nil {
			return nil, nil
		}
		return begin(ctx, hello)
	}
}

// plan returns the header of the span that a call will have. The span itself begins with the first turn: it is known
// only then that there is a call.
func (c *calls) plan(parent trace.SpanContext) string {
	_, span := c.tracer.Start(trace.ContextWithRemoteSpanContext(context.Background(), parent), "call")
	return traceparent(span.SpanContext()) // it never ends: nothing is exported
}

// plannedSpan is the key of the span that a context wants to begin.
type plannedSpan struct{}

// spanIDs makes the ids of spans: those that were planned, or new ones.
type spanIDs struct{}

// NewIDs implements sdktrace.IDGenerator.
func (s spanIDs) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if planned, ok := ctx.Value(plannedSpan{}).(trace.SpanContext); ok {
		return planned.TraceID(), planned.SpanID()
	}
	var id trace.TraceID
	for !id.IsValid() {
		fill(id[:])
	}
	return id, s.NewSpanID(ctx, id)
}

// NewSpanID implements sdktrace.IDGenerator.
func (spanIDs) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	if planned, ok := ctx.Value(plannedSpan{}).(trace.SpanContext); ok {
		return planned.SpanID()
	}
	var id trace.SpanID
	for !id.IsValid() {
		fill(id[:])
	}
	return id
}

func fill(b []byte) {
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
}
