package bench

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/voicegw/voicegw/live/sim"
)

// side is a gateway or a relay.
type side struct {
	name  string
	at    Endpoint
	model *modelClient // nil: it has a model of its own

	idle *usage // before any call; nil: unknown
	found
}

// found is what was measured of a side, in all rounds.
type found struct {
	cpu      float64
	bytes    float64 // sums over rounds
	routines float64

	up, down      []time.Duration
	clears        []time.Duration
	silences      []time.Duration
	waits         []time.Duration
	late          int
	frames, tardy int
	timed, lost   int // frames, and those of them that the model did not hear
}

const gatewayName = "gateway"

// Run measures.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	r, err := start(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return r.measure(ctx, r.cfg.Calls)
}

// run measures again and again.
type run struct {
	cfg    Config
	sides  []*side // the gateway is the last
	report *Report // of the measurement in progress
}

// start checks the configuration and warms the processes up.
func start(ctx context.Context, cfg Config) (*run, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	gateway := &side{name: gatewayName, at: cfg.Gateway}
	r := &run{cfg: cfg, sides: []*side{gateway}}
	if cfg.Model != "" {
		gateway.model = &modelClient{cfg.Model}
	}
	if cfg.Relay != nil {
		r.sides = []*side{{name: "relay", at: *cfg.Relay, model: gateway.model}, gateway}
	}
	for _, s := range r.sides {
		if err := r.warm(ctx, s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// measure measures a number of calls, in all rounds.
func (r *run) measure(ctx context.Context, calls int) (*Report, error) {
	r.report = &Report{Transport: r.cfg.Transport, Codec: r.cfg.Codec, Detection: r.cfg.Detection, Calls: calls,
		Seconds: r.cfg.Length.Seconds(), Seed: r.cfg.Seed}
	for _, s := range r.sides {
		s.found = found{}
		if s.model != nil { // what was left by a measurement that failed
			if _, err := s.model.notices(ctx); err != nil {
				return nil, err
			}
		}
	}
	for n := range r.cfg.Rounds {
		for _, s := range r.sides {
			where := fmt.Sprintf("%s, round %d of %d", s.name, n+1, r.cfg.Rounds)
			if err := r.round(ctx, s, calls, r.cfg.Length/time.Duration(r.cfg.Rounds), where); err != nil {
				return nil, err
			}
		}
	}
	r.conclude()
	return r.report, nil
}

// warm places one call, so that what a process needs once is not counted as a call's, and notes what
// the process uses without one.
func (r *run) warm(ctx context.Context, s *side) error {
	calls, err := r.place(ctx, s, 1, s.name+": the first call")
	if err != nil {
		return err
	}
	calls.hangUp()
	if s.at.Metrics == "" {
		return nil
	}
	if err := r.wait(ctx, r.cfg.settle, s.name+": waiting until the first call is over"); err != nil {
		return err
	}
	u, err := readUsage(ctx, s.at.Metrics)
	if err != nil {
		return err
	}
	s.idle = &u
	return nil
}

// placed are calls in progress.
type placed struct {
	callers []*caller
	first   int // connection of the model
	talking sync.WaitGroup
	stop    context.CancelFunc
}

func (p *placed) hangUp() {
	p.stop()
	p.talking.Wait()
}

// place places calls one after another, each when the model has the one before it: so the nth call
// has the nth connection.
func (r *run) place(ctx context.Context, s *side, n int, where string) (*placed, error) {
	talking, stop := context.WithCancel(ctx)
	p := &placed{stop: stop}
	var err error
	if s.model != nil {
		if p.first, err = s.model.ready(ctx); err != nil {
			stop()
			return nil, err
		}
	}
	for i := range n {
		l, err := r.cfg.dial(ctx, s.at.URL, i)
		if err != nil {
			p.hangUp()
			return nil, fmt.Errorf("bench: call %d of %d to the %s: %w", i+1, n, s.name, err)
		}
		c := newCaller(l, r.cfg.Seed, i)
		c.clears, c.playout.returns = s.name == gatewayName, r.cfg.Transport == Twilio
		c.detector.strict = r.cfg.Detection == ByGateway
		p.callers = append(p.callers, c)
		p.talking.Go(func() { c.talk(talking) })
		if err := s.reached(ctx, p.first+i+1); err != nil {
			p.hangUp()
			return nil, err
		}
		r.cfg.Progress(fmt.Sprintf("%s: %d of %d calls", where, i+1, n))
	}
	return p, nil
}

// reached waits until the model has as many connections.
func (s *side) reached(ctx context.Context, n int) error {
	if s.model == nil {
		return nil
	}
	for deadline := time.Now().Add(patience); ; {
		got, err := s.model.ready(ctx)
		switch {
		case err != nil:
			return err
		case got == n:
			return nil
		case got > n:
			return fmt.Errorf("bench: the %s has opened %d connections to the model, want %d", s.name, got, n)
		case time.Now().After(deadline):
			return fmt.Errorf("bench: the %s has not connected to the model within %v", s.name, patience)
		}
		if err := sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// round holds calls and measures for a while.
func (r *run) round(ctx context.Context, s *side, calls int, length time.Duration, where string) error {
	p, err := r.place(ctx, s, calls, where)
	if err != nil {
		return err
	}
	defer p.hangUp()
	if err := r.wait(ctx, r.cfg.settle, where+": waiting"); err != nil {
		return err
	}
	from := time.Now()
	before, err := s.usage(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := r.wait(ctx, length, where+": measuring"); err != nil {
		return err
	}
	after, err := s.usage(ctx)
	if err != nil {
		return err
	}
	to := time.Now()
	if before != nil {
		seconds := to.Sub(began).Seconds() * float64(calls)
		s.cpu += (after.cpuSeconds - before.cpuSeconds) * 1000 / seconds
		s.bytes += (after.bytes - s.idle.bytes) / float64(calls)
		s.routines += (after.goroutines - s.idle.goroutines) / float64(calls)
	}
	if err := sleep(ctx, replyGap); err != nil { // what is on its way arrives
		return err
	}
	p.hangUp()
	var notices []notice
	if s.model != nil {
		if notices, err = s.model.notices(ctx); err != nil {
			return err
		}
	}
	r.collect(s, p, notices, from, to)
	return nil
}

func (s *side) usage(ctx context.Context) (*usage, error) {
	if s.idle == nil {
		return nil, nil
	}
	u, err := readUsage(ctx, s.at.Metrics)
	return &u, err
}

// wait waits, and says so each second.
func (r *run) wait(ctx context.Context, d time.Duration, where string) error {
	for end := time.Now().Add(d); ; {
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		r.cfg.Progress(fmt.Sprintf("%s, %.0f s left", where, left.Seconds()))
		if err := sleep(ctx, min(left, time.Second)); err != nil {
			return err
		}
	}
}

// collect adds what a round has found between two times.
func (r *run) collect(s *side, p *placed, notices []notice, from, to time.Time) {
	within := func(t time.Time) bool { return t.After(from) && t.Before(to) }
	heard := map[int][]notice{}
	for _, n := range notices {
		heard[n.Connection-p.first] = append(heard[n.Connection-p.first], n)
	}
	for i, c := range p.callers {
		f := &c.found
		for _, e := range f.errors {
			r.report.wrong("%s, call %d: %s", s.name, i+1, e)
		}
		s.frames, s.tardy = s.frames+f.frames, s.tardy+f.tardy
		for _, at := range f.late {
			if within(at) {
				s.late++
			}
		}
		s.clears = appendWithin(s.clears, f.clears, within)
		s.silences = appendWithin(s.silences, f.silence, within)
		for _, w := range f.waits {
			if within(w.heard) {
				s.waits = append(s.waits, w.heard.Sub(w.spoke))
			}
		}
		if s.model != nil {
			s.match(f, heard[i+1], within)
		}
	}
}

func appendWithin(set []time.Duration, list []measured, within func(time.Time) bool) []time.Duration {
	for _, m := range list {
		if within(m.at) {
			set = append(set, m.took)
		}
	}
	return set
}

// match times the frames of a caller by when the model heard them, and the replies of the model by
// when the caller heard them.
func (s *side) match(f *findings, heard []notice, within func(time.Time) bool) {
	var arrived [toneCount][]time.Time
	var replies []time.Time
	for _, n := range heard {
		switch n.Kind {
		case sim.WatchedAudio:
			arrived[n.Number] = append(arrived[n.Number], n.At)
		case sim.WatchedReply:
			replies = append(replies, n.At)
		}
	}
	for _, sent := range f.sent {
		if !sent.timed || !within(sent.at) {
			continue
		}
		s.timed++
		list := &arrived[sent.number]
		for len(*list) > 0 && (*list)[0].Before(sent.at) {
			*list = (*list)[1:]
		}
		if len(*list) == 0 || (*list)[0].Sub(sent.at) >= frames(toneCount) {
			s.lost++
			continue
		}
		s.up = append(s.up, (*list)[0].Sub(sent.at))
		*list = (*list)[1:]
	}
	for _, w := range f.waits {
		for len(replies) > 1 && replies[1].Before(w.heard) {
			replies = replies[1:]
		}
		if len(replies) > 0 && replies[0].Before(w.heard) && within(w.heard) {
			s.down = append(s.down, w.heard.Sub(replies[0]))
		}
	}
}

// conclude makes the report.
func (r *run) conclude() {
	rep, gateway := r.report, r.sides[len(r.sides)-1]
	rep.Gateway = gateway.cost(r.cfg.Rounds)
	rep.InterruptedToClear, rep.SpeechToSilence = quantiles(gateway.clears), quantiles(gateway.silences)
	rep.EndToFirstAudio = quantiles(gateway.waits)
	rep.LateFrames = gateway.late
	if gateway.idle == nil {
		rep.note("the cost of the gateway is unknown: it was not started by bench, and no metrics were named")
	}
	for _, s := range r.sides {
		if s.tardy*50 > s.frames {
			rep.note("the machine was too busy: %.0f %% of the frames of the callers to the %s left more than %v late",
				100*float64(s.tardy)/float64(s.frames), s.name, lateSend)
		}
		if s.lost*50 > s.timed {
			rep.wrong("%s: %d of %d frames did not reach the model within %v", s.name, s.lost, s.timed, frames(toneCount))
		}
	}
	if len(r.sides) == 1 {
		rep.note("there is no relay to compare with: the figures of the relay, the ratios and what is added are unknown")
		return
	}
	relay := r.sides[0]
	rep.Relay = relay.cost(r.cfg.Rounds)
	rep.Ratio = ratio(rep.Gateway, rep.Relay)
	rep.Added = &Added{Up: quantiles(gateway.up).minus(quantiles(relay.up)),
		Down: quantiles(gateway.down).minus(quantiles(relay.down))}
}

// cost is the mean over the rounds.
func (s *side) cost(rounds int) *Cost {
	if s.idle == nil {
		return nil
	}
	n := float64(rounds)
	return &Cost{CPU: positive(s.cpu / n), Bytes: positive(math.Round(s.bytes / n)), Goroutines: positive(s.routines / n)}
}

// positive returns a figure, nil if it is lost in what the process does anyway.
func positive(v float64) *float64 {
	if v = rounded(v); v <= 0 {
		return nil
	}
	return &v
}
