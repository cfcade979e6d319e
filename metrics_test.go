package voicegw_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// TestMetrics counts calls by the reason of their end, and those that found no line.
func TestMetrics(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: voicegw.Config{CallsMax: 1}}, func(w *world) {
		metrics := w.metrics()
		p := w.call(hello(), manner{})
		if _, _, err := w.try(hello()); err == nil {
			t.Error("there was a second line")
		}
		p.say(speech("hello", 16000))
		p.turn(transport.StateStart)
		p.turn(transport.StateEnd)
		p.send(transport.Event{Kind: transport.EventBye})
		p.over(transport.ReasonCallerHungUp, "")
		w.settled()
		want := `
			# HELP voicegw_calls Calls that run now.
			# TYPE voicegw_calls gauge
			voicegw_calls 0
			# HELP voicegw_calls_ended_total Calls that ended, by endpoint and reason.
			# TYPE voicegw_calls_ended_total counter
			voicegw_calls_ended_total{endpoint="ws",reason="caller_hung_up"} 1
			# HELP voicegw_calls_refused_total Calls that found no line, by reason.
			# TYPE voicegw_calls_refused_total counter
			voicegw_calls_refused_total{reason="busy"} 1
			# HELP voicegw_replies_total Replies of the model, and prompts, that began to be played.
			# TYPE voicegw_replies_total counter
			voicegw_replies_total 1
		`
		metrics(want, "voicegw_calls", "voicegw_calls_ended_total", "voicegw_calls_refused_total", "voicegw_replies_total")
	})
}

// metrics registers the metrics of the gateway. It returns a function that compares those of some
// names with what they should be.
func (w *world) metrics() func(want string, names ...string) {
	w.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.gw.Metrics())
	return func(want string, names ...string) {
		w.t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
			w.t.Error(err)
		}
	}
}
