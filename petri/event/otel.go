package event

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/voicegw/voicegw/petri"
)

// maxOTel limits the span events, and the tasks, that an OTel shows.
const maxOTel = 1 << 16

// OTelConfig configures an OTel. Start is required.
type OTelConfig struct {
	// Start is the wall clock time of net time 0.
	Start time.Time
	// Run is the name of the run. "" omits it.
	Run string
	// Parent is the span to which the run belongs. The zero value begins a new trace.
	Parent trace.SpanContext
	// Select reports whether the span of the run shows an event. Append calls it. nil selects the
	// firings that do more than move a payload token.
	Select func(petri.Event) bool
	// EventsMax limits the span events of a run, 1 to 65,536. 0 means 128, the default limit of the
	// SDK for one span.
	EventsMax int
	// TasksMax limits the tasks of a run that get a span, 1 to 65,536. 0 means 1,000.
	TasksMax int
}

// OTel is a Store that turns a run into OpenTelemetry spans.
//
// The span of the run, "net NAME", lasts from the first event to Ended or Faulted, or to Close. A
// fault sets its status to error. Below it, each firing that starts a task is a span of no
// duration, named after the transition. The task itself is a span named after its start place. It
// links to that firing and lasts until the result is injected or the task is cancelled. OTel
// ignores the result that a cancelled task delivers later. If several tasks of one kind run at
// once, their spans end in the order of their starts.
//
// Spans hold names and keys, never payloads. Events and tasks beyond a limit are counted in the
// attributes petri.events.left_out and petri.tasks.left_out of the run's span. If the tracer does
// not record the run's span, OTel makes no other spans and Append does not allocate.
type OTel struct {
	tracer  trace.Tracer
	prog    *petri.Program
	cfg     OTelConfig
	role    []taskRole // by place
	starter []bool     // by transition: it can start a task

	seq    atomic.Uint64
	state  otelState
	root   trace.Span
	open   []taskSpan // in the order of their starts
	late   []int      // by task: cancelled, without a result yet
	events int
	tasks  int
}

type otelState uint8

const (
	otelNew  otelState = iota
	otelOn             // the run's span is open and recorded
	otelDone           // the run is over, or its span is not recorded
)

// taskRole is the role of a place in a task.
type taskRole struct {
	kind taskPlace
	task int
}

type taskPlace uint8

const (
	noTask taskPlace = iota
	startPlace
	inFlightPlace
	donePlace
)

// taskSpan is the span of a task that has not ended.
type taskSpan struct {
	task int
	span trace.Span
}

// NewOTel returns a store that makes spans of the events of prog. A nil tracer makes none. NewOTel
// panics if cfg has no Start or a limit is out of range.
func NewOTel(tracer trace.Tracer, prog *petri.Program, cfg OTelConfig) *OTel {
	if tracer == nil {
		tracer = noop.Tracer{}
	}
	if cfg.Start.IsZero() {
		panic("event: OTel of net " + prog.Name() + ": OTelConfig.Start is not set")
	}
	if cfg.Select == nil {
		cfg.Select = decides(prog)
	}
	cfg.EventsMax = limit("span events", cfg.EventsMax, 128)
	cfg.TasksMax = limit("tasks", cfg.TasksMax, 1000)
	o := &OTel{tracer: tracer, prog: prog, cfg: cfg, late: make([]int, len(prog.Tasks()))}
	o.findTasks()
	return o
}

// limit returns n, or zero if n is 0. It panics if n is out of range.
func limit(what string, n, zero int) int {
	if n < 0 || n > maxOTel {
		panic(fmt.Sprintf("event: OTel shows at most %d %s; the limit must be 1 to %d", n, what, maxOTel))
	}
	if n == 0 {
		return zero
	}
	return n
}

// decides selects the firings that do more than move a payload token.
func decides(prog *petri.Program) func(petri.Event) bool {
	return func(e petri.Event) bool {
		return e.Kind == petri.Fired && !prog.Transitions()[e.Index].Frame
	}
}

// findTasks finds the places of tasks and the transitions that start them.
func (o *OTel) findTasks() {
	o.role = make([]taskRole, len(o.prog.Places()))
	for i, t := range o.prog.Tasks() {
		o.role[t.Start] = taskRole{startPlace, i}
		o.role[t.InFlight] = taskRole{inFlightPlace, i}
		o.role[t.Done] = taskRole{donePlace, i}
	}
	o.starter = make([]bool, len(o.prog.Transitions()))
	for i := range o.prog.Transitions() {
		for _, a := range o.prog.Transitions()[i].Arcs {
			if a.Kind == petri.OutArc && o.role[a.Place].kind == startPlace {
				o.starter[i] = true
			}
		}
	}
}

// Append makes spans of events. It blocks only if the tracer's span processor does, for instance
// one that exports each span when it ends.
func (o *OTel) Append(events []petri.Event) {
	for i := range events {
		o.event(&events[i])
	}
	if n := len(events); n > 0 {
		o.seq.Store(events[n-1].Seq)
	}
}

// Stored returns the number of the last event. No output waits for a trace.
func (o *OTel) Stored() uint64 { return o.seq.Load() }

// Note adds a note to the run's span as a span event. It counts against EventsMax.
func (o *OTel) Note(n Note) {
	if o.state == otelOn && o.room() {
		o.root.AddEvent(n.Kind.String(), trace.WithTimestamp(o.wall(n.At)),
			trace.WithAttributes(attribute.Float64("petri.lateness_seconds", n.Value.Seconds())))
	}
}

// Close ends the spans of a run that was stopped before its net ended. at is the net time of the
// end. After Ended or Faulted, Close does nothing. It must not be called concurrently with Append.
func (o *OTel) Close(at time.Duration) { o.end(at) }

func (o *OTel) event(e *petri.Event) {
	if o.state == otelNew {
		o.begin(e)
	}
	if o.state != otelOn {
		return
	}
	if o.cfg.Select(*e) && o.room() {
		o.root.AddEvent(o.label(e), trace.WithTimestamp(o.wall(e.At)), trace.WithAttributes(seqOf(e)))
	}
	switch e.Kind {
	case petri.Fired:
		if o.starter[e.Index] {
			o.fired(e)
		}
	case petri.Injected:
		o.injected(e)
	case petri.TaskCancelled:
		o.cancelled(e)
	case petri.Faulted:
		o.root.SetStatus(codes.Error, "the run broke an invariant")
		o.end(e.At)
	case petri.Ended:
		o.end(e.At)
	}
}

// label returns what happened as text, without the time.
func (o *OTel) label(e *petri.Event) string {
	switch e.Kind {
	case petri.Started, petri.Ended, petri.Faulted:
		return e.Kind.String()
	case petri.Fired:
		return o.prog.FiringName(*e)
	}
	return e.Kind.String() + " " + o.prog.Places()[e.Index].SlotName(int(e.Slot))
}

// begin opens the run's span.
func (o *OTel) begin(e *petri.Event) {
	o.state = otelDone
	ctx := context.Background()
	if o.cfg.Parent.IsValid() {
		ctx = trace.ContextWithSpanContext(ctx, o.cfg.Parent)
	}
	attrs := []attribute.KeyValue{o.net()}
	if o.cfg.Run != "" {
		attrs = append(attrs, attribute.String("petri.run", o.cfg.Run))
	}
	_, o.root = o.tracer.Start(ctx, "net "+o.prog.Name(), trace.WithTimestamp(o.wall(e.At)),
		trace.WithAttributes(attrs...))
	if o.root.IsRecording() {
		o.state = otelOn
	} else {
		o.root.End()
	}
}

// fired makes the spans of a firing and of the tasks that it starts.
func (o *OTel) fired(e *petri.Event) {
	t := &o.prog.Transitions()[e.Index]
	var cause trace.Span
	for _, out := range t.Modes[e.Mode].Branches[e.Branch].Emit {
		if o.role[out.Place].kind != startPlace {
			continue
		}
		o.tasks++
		if o.tasks > o.cfg.TasksMax {
			continue
		}
		if cause == nil {
			cause = o.child(t.Name, e, trace.WithAttributes(attribute.String("petri.firing", o.prog.FiringName(*e))))
			cause.End(trace.WithTimestamp(o.wall(e.At)))
		}
		place := o.prog.Places()[out.Place].Name
		span := o.child(place, e, trace.WithAttributes(attribute.String("petri.place", place)),
			trace.WithLinks(trace.Link{SpanContext: cause.SpanContext()}))
		o.open = append(o.open, taskSpan{o.role[out.Place].task, span})
	}
}

// child begins a span below the run's.
func (o *OTel) child(name string, e *petri.Event, opts ...trace.SpanStartOption) trace.Span {
	ctx := trace.ContextWithSpan(context.Background(), o.root)
	opts = append(opts, trace.WithTimestamp(o.wall(e.At)), trace.WithAttributes(o.net(), seqOf(e)))
	_, span := o.tracer.Start(ctx, name, opts...)
	return span
}

// injected ends the span of a task whose result has come.
func (o *OTel) injected(e *petri.Event) {
	r := o.role[e.Index]
	if r.kind != donePlace {
		return
	}
	outcome := petri.Outcome(e.Slot)
	if o.late[r.task] > 0 && (outcome == petri.Cancelled || !o.running(r.task)) {
		o.late[r.task]--
		return
	}
	o.finish(r.task, e.At, outcome.String(), outcome == petri.Failed)
}

// cancelled ends the span of a cancelled task. Its result comes later.
func (o *OTel) cancelled(e *petri.Event) {
	task := o.role[e.Index].task
	o.late[task]++
	o.finish(task, e.At, petri.Cancelled.String(), false)
}

// running reports whether a task has an open span.
func (o *OTel) running(task int) bool {
	for i := range o.open {
		if o.open[i].task == task {
			return true
		}
	}
	return false
}

// finish ends the oldest open span of a task, if there is one.
func (o *OTel) finish(task int, at time.Duration, outcome string, failed bool) {
	for i := range o.open {
		if o.open[i].task == task {
			o.endTask(o.open[i].span, at, outcome, failed)
			o.open = append(o.open[:i], o.open[i+1:]...)
			return
		}
	}
}

func (o *OTel) endTask(span trace.Span, at time.Duration, outcome string, failed bool) {
	span.SetAttributes(attribute.String("petri.outcome", outcome))
	if failed {
		span.SetStatus(codes.Error, "the task failed")
	}
	span.End(trace.WithTimestamp(o.wall(at)))
}

// end ends every span.
func (o *OTel) end(at time.Duration) {
	if o.state != otelOn {
		o.state = otelDone
		return
	}
	o.state = otelDone
	for i := range o.open {
		o.endTask(o.open[i].span, at, "unfinished", false)
	}
	o.open = nil
	o.leftOut("petri.events.left_out", o.events-o.cfg.EventsMax)
	o.leftOut("petri.tasks.left_out", o.tasks-o.cfg.TasksMax)
	o.root.End(trace.WithTimestamp(o.wall(at)))
}

func (o *OTel) leftOut(key string, n int) {
	if n > 0 {
		o.root.SetAttributes(attribute.Int(key, n))
	}
}

// room counts a span event and reports whether it is within the limit.
func (o *OTel) room() bool {
	o.events++
	return o.events <= o.cfg.EventsMax
}

// wall returns the wall clock time of a net time.
func (o *OTel) wall(at time.Duration) time.Time { return o.cfg.Start.Add(at) }

func (o *OTel) net() attribute.KeyValue { return attribute.String("petri.net", o.prog.Name()) }

func seqOf(e *petri.Event) attribute.KeyValue { return attribute.Int64("petri.seq", int64(e.Seq)) }
