package voicegw

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// metrics are the figures of a gateway. Calls add theirs at events such as the end of a turn, never
// for a frame; running holds what is read from running calls when somebody collects.
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

	turns     *prometheus.CounterVec   // by end
	answer    prometheus.Histogram     // latency
	silence   prometheus.Histogram     // after a barge-in
	dials     *prometheus.CounterVec   // by result
	dialTime  prometheus.Histogram     // of dials that opened a connection
	tools     *prometheus.CounterVec   // by tool and result
	toolTime  *prometheus.HistogramVec // by tool
	tokens    *prometheus.CounterVec   // by model and kind
	cost      *prometheus.CounterVec   // by model
	price     func(model string, u transport.Usage) (dollars float64, known bool)
	models    *names
	toolNames map[string]bool // of Config.Tools

	running *running

	mu     sync.Mutex
	latest time.Duration // of all calls that ended
}

// histogram returns a histogram with classic buckets, and with native ones for servers that take
// those.
func histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Namespace: "voicegw", Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour}
}

// Buckets, in seconds.
var (
	answerBuckets  = []float64{.1, .2, .3, .4, .5, .6, .8, 1, 1.25, 1.5, 2, 3, 5, 10}
	silenceBuckets = []float64{.01, .02, .04, .06, .08, .1, .15, .2, .3, .5, 1, 2}
	workBuckets    = []float64{.05, .1, .2, .5, 1, 2, 5, 10, 15, 30}
)

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
			"Watchers of a call that were cut off because they read too slowly, in calls that ended."),
		heard: counter("reply_heard_seconds_total", "Length of replies that peers acknowledged as played."),
		duration: prometheus.NewHistogram(histogram("call_duration_seconds", "Length of calls.",
			[]float64{5, 15, 30, 60, 120, 300, 600, 1800, 3600})),
		lateness: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: "voicegw", Name: "net_lateness_max_seconds",
			Help: "The greatest delay with which a net handed over an output, in calls that ended. Timed claims hold up to " +
				"this."}),
		turns: vec("turns_total", "Turns of the model by how they ended, and turns of callers that it did not answer.",
			"end"),
		answer: prometheus.NewHistogram(histogram("answer_latency_seconds",
			"From the end of the caller's turn to the first audio of the reply that was handed to the peer.", answerBuckets)),
		silence: prometheus.NewHistogram(histogram("barge_in_silence_seconds",
			"From a pause because the caller speaks until the peer acknowledged that it plays nothing.", silenceBuckets)),
		dials: vec("model_dials_total", "Dials of the model, by result.", "result"),
		dialTime: prometheus.NewHistogram(histogram("model_dial_seconds",
			"How long it took to open a connection to the model.", workBuckets)),
		tools: vec("tool_calls_total", "Tool calls that ended, by tool and result. Functions that are not the gateway's "+
			"own are the tool other.", "tool", "result"),
		toolTime: prometheus.NewHistogramVec(histogram("tool_seconds",
			"How long tool calls took, for those that ended with a result.", workBuckets), []string{"tool"}),
		tokens: vec("model_tokens_total", "Tokens that the model reported, by model and kind. input_audio and "+
			"input_cached are parts of input, output_audio is one of output; thoughts are counted apart.", "model", "kind"),
		cost:   vec("model_cost_dollars_total", "What these tokens cost, for models that have a price.", "model"),
		price:  g.cfg.Price,
		models: newNames(modelNamesMax), toolNames: map[string]bool{}, running: newRunning(g),
	}
	for _, t := range g.cfg.Tools {
		m.toolNames[t.Name] = true
	}
	return m, []prometheus.Collector{m.ended, m.refused, m.replies, m.interrupted, m.resumed, m.unanswered, m.linksLost,
		m.archivesLost, m.watchersCut, m.heard, m.duration, m.lateness, m.turns, m.answer, m.silence, m.dials, m.dialTime,
		m.tools, m.toolTime, m.tokens, m.cost, m.running}
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

// turn counts a turn of the model that ended, after how long it began, and what it cost, which it
// returns.
func (m *metrics) turn(model string, t *Turn) (dollars float64, known bool) {
	m.turns.WithLabelValues(string(t.End)).Inc()
	if t.Latency > 0 {
		m.answer.Observe(t.Latency.Seconds())
	}
	return m.usage(model, t.Usage)
}

// usage counts tokens and what they cost.
func (m *metrics) usage(model string, u transport.Usage) (dollars float64, known bool) {
	if u == (transport.Usage{}) {
		return 0, false
	}
	label := m.models.label(model)
	for _, k := range [...]struct {
		kind string
		n    int32
	}{{"input", u.Prompt}, {"input_audio", u.PromptAudio}, {"input_cached", u.Cached}, {"output", u.Response},
		{"output_audio", u.ResponseAudio}, {"thoughts", u.Thoughts}} {
		m.tokens.WithLabelValues(label, k.kind).Add(float64(max(k.n, 0)))
	}
	if m.price == nil {
		return 0, false
	}
	if dollars, known = m.price(model, u); known && dollars >= 0 {
		m.cost.WithLabelValues(label).Add(dollars)
		return dollars, true
	}
	return 0, false
}

// dialled counts a dial, and how long it took if it opened a connection.
func (m *metrics) dialled(r voicenets.DialResult, took time.Duration) {
	m.dials.WithLabelValues(r.KeyNames()[r.Key()]).Inc()
	if r == voicenets.Fresh || r == voicenets.Resumed {
		m.dialTime.Observe(took.Seconds())
	}
}

// toolOther is the label of all functions that are not the gateway's own.
const toolOther = "other"

// tool counts a tool call that ended. took is 0 if the function did not run to its end.
func (m *metrics) tool(name, result string, took time.Duration) {
	if !m.toolNames[name] {
		name = toolOther
	}
	m.tools.WithLabelValues(name, result).Inc()
	if took > 0 {
		m.toolTime.WithLabelValues(name).Observe(took.Seconds())
	}
}

// modelNamesMax limits the models that metrics tell apart, because clients may choose theirs.
const modelNamesMax = 32

// names bounds the values of a label: names beyond the first few become "other". It is safe for
// concurrent use.
type names struct {
	most int

	mu    sync.Mutex
	known map[string]bool
}

func newNames(most int) *names { return &names{most: most, known: map[string]bool{}} }

// label returns the value of the label for a name.
func (n *names) label(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[name] {
		if len(n.known) == n.most {
			return "other"
		}
		n.known[name] = true
	}
	if name == "" {
		return "unnamed"
	}
	return name
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

// Metrics returns the gateway's collector, for your prometheus.Registry. docs/metrics.md lists its
// metrics. Its labels are bounded: no caller can make a new series.
func (g *Gateway) Metrics() prometheus.Collector { return g.collectors }
