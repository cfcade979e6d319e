package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/petri/event"
)

// TestSpans checks that a store of spans shows each step of a turn: what the net started, in order, and
// how long it took.
func TestSpans(t *testing.T) {
	p := newProgram(t, Config{Limits: Limits{ToolSlots: 1}, Agents: []Agent{{Name: "host", Tools: []Tool{menu()},
		Model: &provider.Script{Turns: []provider.ScriptTurn{calls(call("menu")), text("Soup.")}}}}})
	spans := tracetest.NewSpanRecorder()
	store := event.NewOTel(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans)).Tracer("agent"), p.compiled,
		event.OTelConfig{Start: time.Unix(0, 0), Run: "desk"})
	s, err := Start(p, Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, s: s}
	k.must("go", Answered, `host step call menunull`, `host step result menu{"dish":"soup"}`, `host answer "Soup."`)
	k.close()
	store.Close(time.Hour)

	var got []string
	run := ""
	for _, span := range spans.Ended() {
		switch {
		case strings.HasSuffix(span.Name(), "_start"):
			got = append(got, strings.TrimSuffix(span.Name(), "_start"))
			if span.EndTime().Before(span.StartTime()) {
				t.Errorf("span %s ends before it starts", span.Name())
			}
		case strings.HasPrefix(span.Name(), "net "):
			run = span.Name()
		}
	}
	want := strings.Fields("append host_build host_ask append host_tool0 append host_build host_ask append")
	if !slices.Equal(got, want) || run != "net agents" {
		t.Errorf("spans %q of %q, want %q", got, run, want)
	}
}
