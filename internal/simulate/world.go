package simulate

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws/wstest"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/monitor"
)

// world is a gateway and its callers.
type world struct {
	t       *testing.T
	plan    *worldPlan
	sounds  *sounds
	summary *summary
	callers []*caller
	log     *logCapture
	gw      *voicegw.Gateway

	mu         sync.Mutex
	sessions   []weakSession
	traces     map[string]*trace // by the call's id
	records    []voicegw.Record
	proved     map[*petri.Program][]*verify.Property
	inputs     map[*petri.Program]map[string]bool // see trace.inputs
	violations []string
}

// run runs the world, in a bubble.
func (w *world) run() {
	w.log = newLogCapture()
	cfg := w.plan.gw
	cfg.Log = zap.New(w.log)
	cfg.Dialer = live.Wire{BaseURL: "ws://nobody"} // each call has its own
	cfg.Watch, cfg.Archive = w.watch, w.archive
	cfg.Hooks = voicegw.Hooks{Begin: w.begin, Running: w.running, Ended: w.ended}
	for _, p := range w.plan.calls {
		s := newCaller(p, w.sounds)
		s.model.greeting = w.plan.gw.Greeting
		w.callers = append(w.callers, s)
	}
	gw, err := voicegw.New(cfg)
	if err != nil {
		w.violation("no gateway: %v", err)
		return
	}
	w.gw = gw
	var calls sync.WaitGroup
	for i, s := range w.callers {
		calls.Go(func() {
			time.Sleep(s.plan.after)
			w.call(s, newChance(w.plan.seed, uint64(i)+1000))
		})
	}
	if w.plan.closes > 0 {
		time.Sleep(w.plan.closes)
		began := time.Now()
		_ = gw.Close()
		if took := time.Since(began); took > closeMax {
			w.violation("Close took %v", took)
		}
	}
	calls.Wait()
	w.judgeGoroutines()
	w.release()
	_ = gw.Close()
	if n := gw.Calls(); n != 0 {
		w.violation("%d calls are left", n)
	}
}

// closeMax is how long closing a gateway may take: as long as a call, and a function that ignores
// its context.
const closeMax = endMax + writeTimeout + toolOvertime

// call makes one call, with a model of its own.
func (w *world) call(s *caller, c chance) {
	s.plan.model.Greeting, s.plan.model.GreetingText = w.sounds.words[utterance{"over", 24000}], "Hello there."
	model, err := sim.New(s.plan.model)
	if err != nil {
		w.violation("no model: %v", err)
		return
	}
	back := wstest.New()
	server := &http.Server{Handler: model}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(back) })
	s.model.Dialer = live.Wire{BaseURL: "ws://model",
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: back.Dial, DisableKeepAlives: true}}}
	s.line.began, s.model.tools = time.Now(), w.plan.tools
	if len(w.plan.gw.Tools) > 0 || w.plan.gw.Net.ToolSlots > 0 {
		s.model.patience = w.plan.gw.Net.ToolTimeout + time.Second
		if s.plan.peer.stallsAfter > 0 { // the call takes a while to end
			s.model.patience += endMax + writeTimeout
		}
	}
	s.call(w.gw, c)
	_ = model.Close()
	_ = server.Close()
	serving.Wait()
}

// begin gives a call its model.
func (w *world) begin(_ context.Context, h *transport.Hello) (*voicegw.Plan, error) {
	n, err := strconv.Atoi(h.Params["n"])
	if err != nil {
		return nil, err
	}
	return &voicegw.Plan{Dialer: w.callers[n].model, Labels: h.Params}, nil
}

// running gives a caller the session of the call.
func (w *world) running(s *voicegw.Session) {
	n, _ := strconv.Atoi(s.Hello().Params["n"])
	w.track(n, s)
	w.callers[n].session <- s
}

// ended keeps the record of a call.
func (w *world) ended(r voicegw.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = append(w.records, r)
}

// watch makes the trace of a call.
func (w *world) watch(call string, prog *petri.Program) event.Store {
	t := newTrace(prog)
	w.mu.Lock()
	defer w.mu.Unlock()
	var err error
	if t.monitor, err = monitor.New(prog, w.properties(prog)...); err != nil {
		w.violations = append(w.violations, fmt.Sprintf("no monitor: %v", err))
	} else if n := len(t.monitor.Watched()); n < watchedMin {
		w.violations = append(w.violations, fmt.Sprintf("a monitor sees too little: %d properties", n))
	}
	t.inputs = w.inputs[prog]
	w.traces[call] = t
	return t
}

// archive keeps the archives of every eighth world, for judgeProofs.
func (w *world) archive(call string) (io.WriteCloser, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.plan.seed%archiveEvery != 0 || w.traces[call] == nil {
		return noClose{io.Discard}, nil
	}
	w.traces[call].archived = true
	return noClose{&w.traces[call].archive}, nil
}

// archiveEvery is of how many worlds one keeps archives.
const archiveEvery = 8

type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }

// release drops what the callers hold of their calls.
func (w *world) release() {
	for _, s := range w.callers {
		s.host = nil
		select {
		case <-s.session:
		default:
		}
	}
}
