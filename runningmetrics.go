package voicegw

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/petri/runner"
	"github.com/voicegw/voicegw/voicenets"
)

// running collects figures of running calls when it is asked to, and keeps the counts of calls that
// ended. A call pays for it when it begins and ends, and when somebody collects.
type running struct {
	g *Gateway

	calls, lines, online, playout, queued, fullest *prometheus.Desc
	lateness, dropped                              *prometheus.Desc

	mu    sync.Mutex
	live  map[*call]struct{}
	ended netCounts
}

// netCounts sums the counters of nets.
type netCounts struct {
	lateness [runner.LatenessBuckets]uint64
	latest   time.Duration // the sum of all
	dropped  map[string]uint64
}

// queues are the queues of a call, in the order in which they are collected.
var queues = [...]string{"peer", "model", "archive"}

func newRunning(g *Gateway) *running {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("voicegw_"+name, help, labels, nil)
	}
	return &running{g: g, live: map[*call]struct{}{}, ended: netCounts{dropped: map[string]uint64{}},
		calls: desc("calls", "Calls that run now."),
		lines: desc("lines", "Lines, by whether a call has them: calls_max in all.", "state"),
		online: desc("model_connections", "Running calls by the state of their connection to the model: online or offline.",
			"state"),
		playout: desc("playout_frames", "Frames of 20 ms of replies in running calls. unacknowledged: handed to the peer, "+
			"within timing.budget; waiting: in the gateway.", "state"),
		queued:  desc("queue_items", "What waits in the queues of running calls.", "queue"),
		fullest: desc("queue_items_max", "What waits in the fullest queue of a running call.", "queue"),
		lateness: desc("net_lateness_seconds", "How late nets handed over their outputs: once for each step of a net that "+
			"had any. Running calls count."),
		dropped: desc("dropped_total", "What nets dropped, by reason: the transition that did it, or place_full. Running "+
			"calls count.", "reason"),
	}
}

// begin takes a call whose net runs.
func (r *running) begin(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[c] = struct{}{}
}

// end keeps the counts of a call that has ended. It ignores a call that never began.
func (r *running) end(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.live[c]; ok {
		delete(r.live, c)
		r.ended.add(c)
	}
}

// add adds the counts of a call's net.
func (n *netCounts) add(c *call) {
	s := c.net.Stats()
	for i, count := range s.Lateness {
		n.lateness[i] += count
	}
	n.latest += s.LatenessSum
	n.dropped["place_full"] += s.Dropped + s.Refused
	for i, reason := range c.prog.drops.reasons {
		n.dropped[reason] += c.events.counts[i].Load()
	}
}

// snapshot sums the counts of all calls.
func (n *netCounts) snapshot() netCounts {
	sum := *n
	sum.dropped = make(map[string]uint64, len(n.dropped))
	for reason, count := range n.dropped {
		sum.dropped[reason] = count
	}
	return sum
}

// Describe implements prometheus.Collector.
func (r *running) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{r.calls, r.lines, r.online, r.playout, r.queued, r.fullest, r.lateness,
		r.dropped} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (r *running) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
	}
	used, calls := r.g.used()
	gauge(r.calls, calls)
	gauge(r.lines, used, "used")
	gauge(r.lines, r.g.cfg.CallsMax-used, "free")
	now, counts := r.sum()
	gauge(r.online, now.online, "online")
	gauge(r.online, now.offline, "offline")
	gauge(r.playout, now.unacked, "unacknowledged")
	gauge(r.playout, now.waiting, "waiting")
	for i, queue := range queues {
		gauge(r.queued, now.queued[i], queue)
		gauge(r.fullest, now.fullest[i], queue)
	}
	for reason, n := range counts.dropped {
		ch <- prometheus.MustNewConstMetric(r.dropped, prometheus.CounterValue, float64(n), reason)
	}
	buckets, total := map[float64]uint64{}, uint64(0)
	for i, n := range counts.lateness {
		total += n
		if i < runner.LatenessBuckets-1 {
			buckets[(time.Duration(1<<i) * time.Microsecond).Seconds()] = total
		}
	}
	ch <- prometheus.MustNewConstHistogram(r.lateness, total, counts.latest.Seconds(), buckets)
}

// present is what running calls hold at one moment.
type present struct {
	online, offline, unacked, waiting int
	queued, fullest                   [len(queues)]int
}

// sum reads all running calls.
func (r *running) sum() (p present, counts netCounts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts = r.ended.snapshot()
	for c := range r.live {
		counts.add(c)
		marking := c.net.Marking()
		if c.prog.held(marking, voicenets.Online) > 0 {
			p.online++
		} else {
			p.offline++
		}
		p.unacked += c.prog.held(marking, voicenets.Unacked)
		p.waiting += c.prog.held(marking, voicenets.ReplyAudio)
		for i, n := range [...]int{c.out.peer.waiting(), c.out.model.waiting(), c.archive.waiting()} {
			p.queued[i] += n
			p.fullest[i] = max(p.fullest[i], n)
		}
	}
	return p, counts
}

// used returns how many lines are taken, and how many calls run.
func (g *Gateway) used() (lines, calls int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.taken, g.calls
}

// held returns the tokens of a place in a marking.
func (p *program) held(marking []int32, place petri.AnyPlace) (n int) {
	i := p.Place(place.String())
	for slot := range marking {
		if i >= 0 && p.SlotPlace(slot) == i {
			n += int(marking[slot])
		}
	}
	return n
}

// drops says which transitions of a net drop something, and what they are called in metrics.
type drops struct {
	of      []int8 // by transition: the index of its reason, or -1
	reasons []string
}

// findDrops finds the transitions whose names begin with drop_.
func findDrops(p *petri.Program) (d drops) {
	for _, t := range p.Transitions() {
		name := t.Name[strings.LastIndexByte(t.Name, '/')+1:]
		index := -1
		if reason, ok := strings.CutPrefix(name, "drop_"); ok && len(d.reasons) < 100 {
			index = len(d.reasons)
			d.reasons = append(d.reasons, reason)
		}
		d.of = append(d.of, int8(index))
	}
	return d
}

// eventRing keeps the last events of a call and counts those that dropped something.
type eventRing struct {
	*event.Ring
	drops  *drops
	counts []atomic.Uint64 // by reason
}

func newEventRing(d *drops) *eventRing {
	return &eventRing{Ring: event.NewRing(ringEvents), drops: d, counts: make([]atomic.Uint64, len(d.reasons))}
}

// Append keeps and counts events. It does not allocate.
func (r *eventRing) Append(events []petri.Event) {
	r.Ring.Append(events)
	for i := range events {
		if e := &events[i]; e.Kind == petri.Fired {
			if reason := r.drops.of[e.Index]; reason >= 0 {
				r.counts[reason].Add(1)
			}
		}
	}
}
