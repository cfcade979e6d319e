package voicegw

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the counters of a gateway.
type metrics struct {
	ended        *prometheus.CounterVec // by endpoint and reason
	refused      *prometheus.CounterVec // by reason
	replies      prometheus.Counter
	interrupted  prometheus.Counter
	resumed      prometheus.Counter
	unanswered   prometheus.Counter
	linksLost    prometheus.Counter
	archivesLost prometheus.Counter
	watchersCut  prometheus.Counter
	heard        prometheus.Counter // seconds
	duration     prometheus.Histogram
	lateness     prometheus.Gauge

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
		ended:        vec("calls_ended_total", "Calls that ended, by endpoint and reason.", "endpoint", "reason"),
		refused:      vec("calls_refused_total", "Calls that found no line, by reason.", "reason"),
		replies:      counter("replies_total", "Replies of the model, and prompts, that began to be played."),
		interrupted:  counter("replies_interrupted_total", "Replies that the caller interrupted."),
		resumed:      counter("false_interruptions_total", "Replies that were paused and went on."),
		unanswered:   counter("turns_unanswered_total", "Turns of callers for which the model had no reply."),
		linksLost:    counter("model_links_lost_total", "Connections to the model that were replaced in a call."),
		archivesLost: counter("archives_lost_total", "Calls whose archive is incomplete because it could not be written."),
		watchersCut: counter("watchers_cut_off_total",
			"Those who watched a call and were cut off because they did not read fast enough, in calls that ended."),
		heard: counter("reply_heard_seconds_total", "Length of replies that peers acknowledged as played."),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "voicegw", Name: "call_duration_seconds",
			Help: "Length of calls.", Buckets: []float64{5, 15, 30, 60, 120, 300, 600, 1800, 3600}}),
		lateness: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "voicegw", Name: "net_lateness_max_seconds",
			Help: "The most that an output of a net was handed over after its time, in calls that ended. Timed claims hold " +
				"up to this."}),
	}
	running := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "voicegw", Name: "calls",
		Help: "Calls that run now."}, func() float64 { return float64(g.Calls()) })
	return m, []prometheus.Collector{m.ended, m.refused, m.replies, m.interrupted, m.resumed, m.unanswered, m.linksLost,
		m.archivesLost, m.watchersCut, m.heard, m.duration, m.lateness, running}
}

// record counts a call that has ended.
func (m *metrics) record(r Record, late time.Duration) {
	m.ended.WithLabelValues(r.Endpoint, r.Reason).Inc()
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

// collectors is one collector of several.
type collectors []prometheus.Collector

// Describe describes all collectors.
func (c collectors) Describe(ch chan<- *prometheus.Desc) {
	for _, one := range c {
		one.Describe(ch)
	}
}

// Collect collects all collectors.
func (c collectors) Collect(ch chan<- prometheus.Metric) {
	for _, one := range c {
		one.Collect(ch)
	}
}

// Metrics returns the gateway's collector, for your prometheus.Registry. It counts calls by
// endpoint and by reason of their end, replies, interruptions, turns without a reply, and lost
// connections to the model. Its only labels are endpoints and reasons.
func (g *Gateway) Metrics() prometheus.Collector { return g.collectors }
