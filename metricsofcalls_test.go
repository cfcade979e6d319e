package voicegw_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

// gathered returns the values of a gateway's metrics, by name and labels: "turns_total{complete}". Of
// a histogram it is the count.
func (w *world) gathered() map[string]float64 {
	w.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(w.gw.Metrics())
	families, err := registry.Gather()
	if err != nil {
		w.t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			values[f.GetName()[len("voicegw_"):]+labels(m)] = valueOf(m)
		}
	}
	return values
}

func labels(m *dto.Metric) (text string) {
	for i, l := range m.GetLabel() {
		if i > 0 {
			text += ","
		}
		text += l.GetValue()
	}
	if text == "" {
		return ""
	}
	return "{" + text + "}"
}

func valueOf(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.GetCounter().GetValue()
	case m.Gauge != nil:
		return m.GetGauge().GetValue()
	}
	return float64(m.GetHistogram().GetSampleCount())
}

// wants compares gathered values.
func (w *world) wants(want map[string]float64) {
	w.t.Helper()
	got := w.gathered()
	for name, v := range want {
		if g, ok := got[name]; !ok || math.Abs(g-v) > 1e-9 {
			w.t.Errorf("%s is %v (there: %v), want %v", name, g, ok, v)
		}
	}
}

// TestMetricsOfACall interrupts a reply, and finds the call in every figure: turns, latency, silence
// after the interruption, the dial, tokens and what they cost.
func TestMetricsOfACall(t *testing.T) {
	t.Parallel()
	price := func(model string, u transport.Usage) (float64, bool) {
		return float64(u.Response) / 1000, model == "parrot"
	}
	p := plan{gw: voicegw.Config{CallsMax: 3, Model: transport.Model{Name: "parrot"}, Price: price}}
	inBubble(t, p, func(w *world) {
		r := w.converse(wsclient.Config{In: audiotest.Speech("long"),
			BargeIn: wsclient.BargeIn{PCM: audiotest.Speech("over"), After: 2 * time.Second}})
		if r.Interruptions != 1 {
			t.Fatalf("%d interruptions", r.Interruptions)
		}
		w.settled()
		w.wants(map[string]float64{"turns_total{complete}": 1, "turns_total{interrupted}": 1,
			"answer_latency_seconds": 2, "barge_in_silence_seconds": 1, "model_dials_total{fresh}": 1,
			"model_dial_seconds": 1, "lines{used}": 0, "lines{free}": 3, "model_connections{online}": 0,
			"playout_frames{unacknowledged}": 0, "queue_items{peer}": 0, "queue_items_max{model}": 0})
		got := w.gathered()
		output := got["model_tokens_total{output,parrot}"]
		if cost := got["model_cost_dollars_total{parrot}"]; output < 1 || math.Abs(cost-output/1000) > 1e-9 {
			t.Errorf("%v tokens of output cost %v", output, cost)
		}
		if got["net_lateness_seconds"] < 100 {
			t.Errorf("the lateness of %v steps was measured", got["net_lateness_seconds"])
		}
	})
}

// TestMetricsOfARunningCall reads the figures of a call that goes on: its line, its connection, and
// what its net dropped while the caller was muted.
func TestMetricsOfARunningCall(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{gw: voicegw.Config{CallsMax: 3}}, func(w *world) {
		p := w.call(hello(), manner{})
		p.send(transport.Event{Kind: transport.EventMute, On: true})
		p.say(speech("hello", 16000))
		time.Sleep(2 * time.Second) // of the bubble
		w.wants(map[string]float64{"calls": 1, "lines{used}": 1, "lines{free}": 2, "model_connections{online}": 1,
			"model_connections{offline}": 0})
		dropped := w.gathered()["dropped_total{frame_input_closed}"]
		if dropped < 10 {
			t.Errorf("%v frames were dropped while the caller was muted: %v", dropped, w.gathered())
		}
		p.send(transport.Event{Kind: transport.EventBye})
		p.over(transport.ReasonCallerHungUp, "")
		w.settled()
		if after := w.gathered()["dropped_total{frame_input_closed}"]; after < dropped {
			t.Errorf("%v frames are counted when the call is over, %v were before", after, dropped)
		}
	})
}

// TestMetricsOfTools counts calls of the gateway's own tool by its name, and those of a function that
// a client brought as other.
func TestMetricsOfTools(t *testing.T) {
	t.Parallel()
	s, err := sim.ParseScenario("tools",
		"about Tools.\non turn 1: call weather {}\non turn 2: call made_up_by_the_client {}\n")
	if err != nil {
		t.Fatal(err)
	}
	type none struct{}
	tool, err := voicegw.NewTool("weather", "tells the weather",
		func(context.Context, none) (none, error) { time.Sleep(time.Second); return none{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, plan{gw: voicegw.Config{Tools: []voicegw.Tool{tool}}, model: sim.Config{Scenario: s}}, func(w *world) {
		p := w.call(hello(), manner{})
		for range 2 {
			p.say(speech("hello", 16000))
			p.ended(transport.TurnComplete)
		}
		w.wants(map[string]float64{"tool_calls_total{answered,weather}": 1, "tool_seconds{weather}": 1,
			"tool_calls_total{failed,other}": 1})
	})
}

// TestMetricsAreBounded lets clients choose more models than metrics tell apart.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	const models = 40
	named := make(chan string, 1)
	hooks := voicegw.Hooks{Begin: func(context.Context, *transport.Hello) (*voicegw.Plan, error) {
		return &voicegw.Plan{Setup: &live.Setup{Model: <-named}}, nil
	}}
	var all []string
	for i := range models {
		all = append(all, fmt.Sprintf("model-%d", i))
	}
	inBubble(t, plan{gw: voicegw.Config{Hooks: hooks}, model: sim.Config{Models: all}}, func(w *world) {
		for i := range models {
			named <- fmt.Sprintf("model-%d", i)
			p := w.call(hello(), manner{})
			p.say(speech("hello", 16000))
			p.ended(transport.TurnComplete)
			p.send(transport.Event{Kind: transport.EventBye})
			p.over(transport.ReasonCallerHungUp, "")
		}
		w.settled()
		series := 0
		for name := range w.gathered() {
			if len(name) > 20 && name[:18] == "model_tokens_total" {
				series++
			}
		}
		if series != 33*6 {
			t.Errorf("there are %d series of tokens, want those of 32 models and of all others", series)
		}
	})
}

// TestMetricsAreNativeToo wants native buckets besides the classic ones.
func TestMetricsAreNativeToo(t *testing.T) {
	t.Parallel()
	inBubble(t, plan{}, func(w *world) {
		w.converse(wsclient.Config{In: audiotest.Speech("hello")})
		w.settled()
		registry := prometheus.NewRegistry()
		registry.MustRegister(w.gw.Metrics())
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if h := f.GetMetric()[0].GetHistogram(); f.GetName() == "voicegw_answer_latency_seconds" &&
				(h.Schema == nil || len(h.GetPositiveSpan()) == 0 || len(h.GetBucket()) < 10) {
				t.Errorf("the latency has no native buckets, or no classic ones: %v", h)
			}
		}
	})
}
