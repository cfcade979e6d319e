package voicegw

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are what a gateway counts. They are a prometheus.Collector.
type metrics struct {
	ended       *prometheus.CounterVec // by door and reason
	refused     *prometheus.CounterVec // by reason
	replies     prometheus.Counter
	interrupted prometheus.Counter
	resumed     prometheus.Counter
	unanswered  prometheus.Counter
	linksLost   prometheus.Counter
	recordsLost prometheus.Counter
	heard       prometheus.Counter // seconds
	duration    prometheus.Histogram
	lateness    prometheus.Gauge

	mu     sync.Mutex
	latest time.Duration // of all calls that ended
}

func newMetrics(g *Gateway) (*metrics, []prometheus.Collector) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: "voicegw", Name: name, Help: help})
	}
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "voicegw", Name: name, Help: help}, labels)
	}
	m := &metrics{
		ended:       vec("calls_ended_total", "Calls that ended, by door and reason.", "door", "reason"),
		refused:     vec("calls_refused_total", "Calls that found no line, by reason.", "reason"),
		replies:     counter("replies_total", "Replies of the model, and prompts, that began to be played."),
		interrupted: counter("replies_interrupted_total", "Replies that the caller interrupted."),
		resumed:     counter("false_interruptions_total", "Replies that were paused and went on."),
		unanswered:  counter("turns_unanswered_total", "Turns of callers for which the model had no reply."),
		linksLost:   counter("model_links_lost_total", "Connections to the model that were replaced in a call."),
		recordsLost: counter("records_lost_total", "Calls whose record is incomplete, because it could not be written."),
		heard:       counter("reply_heard_seconds_total", "Length of replies that peers acknowledged as played."),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "voicegw", Name: "call_duration_seconds",
			Help: "Length of calls.", Buckets: []float64{5, 15, 30, 60, 120, 300, 600, 1800, 3600}}),
		lateness: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "voicegw", Name: "net_lateness_max_seconds",
			Help: "The most that an output of a net was handed over after its time, in calls that ended. Timed claims hold " +
				"up to this."}),
	}
	running := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "voicegw", Name: "calls",
		Help: "Calls that run now."}, func() float64 { return float64(g.Calls()) })
	return m, []prometheus.Collector{m.ended, m.refused, m.replies, m.interrupted, m.resumed, m.unanswered, m.linksLost,
		m.recordsLost, m.heard, m.duration, m.lateness, running}
}

// record counts a call that is over.
func (m *metrics) record(r Record, late time.Duration) {
	m.ended.WithLabelValues(r.Door, r.Reason).Inc()
	m.replies.Add(float64(r.Replies))
	m.interrupted.Add(float64(r.Interrupted))
	m.resumed.Add(float64(r.FalseInterruptions))
	m.unanswered.Add(float64(r.Unanswered))
	m.linksLost.Add(float64(r.LinksLost))
	m.heard.Add(float64(r.HeardMS) / 1000)
	m.duration.Observe(r.Duration.Seconds())
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.latest = max(m.latest, late); m.latest == late {
		m.lateness.Set(late.Seconds())
	}
}

// collectors describes and collects several as one.
type collectors []prometheus.Collector

// Describe describes all.
func (c collectors) Describe(ch chan<- *prometheus.Desc) {
	for _, one := range c {
		one.Describe(ch)
	}
}

// Collect collects all.
func (c collectors) Collect(ch chan<- prometheus.Metric) {
	for _, one := range c {
		one.Collect(ch)
	}
}

// Metrics are the gateway's own, for a prometheus.Registry of the caller's:
// calls by door and reason of their end, replies, interruptions, turns without
// a reply, connections to the model that were lost. There are no words in them
// and no names but those of doors and reasons.
func (g *Gateway) Metrics() prometheus.Collector { return g.collectors }
