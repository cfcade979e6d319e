package event

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/voicegw/voicegw/petri"
)

var epoch = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

const (
	ask     = petri.Place[string]("ask")
	forget  = petri.Place[unit]("forget")
	resting = petri.Place[unit]("resting")
	settled = petri.Place[unit]("settled")
)

func lookup() petri.Task[string, int] {
	return petri.Task[string, int]{Start: "begin", InFlight: "busy", Done: "answer"}
}

// desk looks up one thing at a time, for at most a second. forget cancels it.
func desk(t testing.TB) *petri.Program {
	task := lookup()
	p, err := petri.Compile(&petri.Net{
		Name:  "desk",
		Env:   []petri.Env{{Place: ask, Capacity: 4}, {Place: forget}, {Place: hangup}},
		Tasks: []petri.AnyTask{task},
		Init:  []petri.Token{resting.Token(unit{})},
		Transitions: []petri.Transition{
			{Name: "look_up", In: petri.Arcs{ask, resting}, Out: petri.And(task.Start, task.InFlight),
				Action: func(f *petri.Firing) { task.Start.Put(f, ask.Get(f)) }},
			{Name: "give", In: petri.Arcs{task.Done, task.InFlight}, Out: petri.And(resting)},
			{Name: "lose_patience", In: petri.Arcs{task.InFlight}, Out: petri.And(settled), When: petri.After(time.Second)},
			{Name: "let_go", In: petri.Arcs{forget, task.InFlight}, Out: petri.And(settled), Priority: 1},
			{Name: "recover", In: petri.Arcs{task.Done, settled}, Out: petri.And(resting)},
			{Name: "ignore", In: petri.Arcs{forget}},
			{Name: "end", In: petri.Arcs{hangup}, Out: petri.And(over)},
		},
		Final: over,
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// said is one injection of a story.
type said struct {
	at  time.Duration
	tok petri.Token
}

func result(o petri.Outcome) petri.Token {
	return lookup().Done.Token(petri.Result[int]{Outcome: o, Value: 42, Reason: "because"})
}

// play plays a story and gives s its events.
func play(t *testing.T, p *petri.Program, s Store, story ...said) *petri.Machine {
	t.Helper()
	m := p.Start()
	for _, x := range story {
		if err := m.Inject(x.at, x.tok); err != nil {
			t.Fatal(err)
		}
		s.Append(m.Advance(x.at).Events)
	}
	return m
}

// recorded returns a tracer and a recorder of the spans that ended.
func recorded(opts ...sdk.TracerProviderOption) (trace.Tracer, *tracetest.SpanRecorder) {
	r := tracetest.NewSpanRecorder()
	return sdk.NewTracerProvider(append(opts, sdk.WithSpanProcessor(r))...).Tracer("t"), r
}

// show returns spans in the order of their ends, with times since epoch.
func show(spans []sdk.ReadOnlySpan) string {
	names := map[trace.SpanID]string{}
	for _, s := range spans {
		names[s.SpanContext().SpanID()] = fmt.Sprintf("%s@%v", s.Name(), s.StartTime().Sub(epoch))
	}
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&b, "%s %v..%v", s.Name(), s.StartTime().Sub(epoch), s.EndTime().Sub(epoch))
		if s.Parent().IsValid() {
			fmt.Fprintf(&b, " in %s", names[s.Parent().SpanID()])
		}
		for _, l := range s.Links() {
			fmt.Fprintf(&b, " from %s", names[l.SpanContext.SpanID()])
		}
		fmt.Fprintf(&b, " {%s}", pairs(s.Attributes()))
		if s.Status().Code == codes.Error {
			fmt.Fprintf(&b, " error: %s", s.Status().Description)
		}
		for _, e := range s.Events() {
			fmt.Fprintf(&b, "\n  %v %s {%s}", e.Time.Sub(epoch), e.Name, pairs(e.Attributes))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func pairs(attrs []attribute.KeyValue) string {
	var out []string
	for _, a := range attrs {
		out = append(out, strings.TrimPrefix(string(a.Key), "petri.")+"="+a.Value.String())
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestOTelStory looks up five things: one is found, one fails, one takes too long, one is
// forgotten, and one has not ended at the end. The third and the fourth deliver late.
func TestOTelStory(t *testing.T) {
	tracer, r := recorded()
	p := desk(t)
	o := NewOTel(tracer, p, OTelConfig{Start: epoch, Run: "17"})
	const s = time.Second
	play(t, p, o,
		said{1 * s, ask.Token("a")}, said{1500 * time.Millisecond, result(petri.Succeeded)},
		said{2 * s, ask.Token("b")}, said{2 * s, result(petri.Failed)},
		said{3 * s, ask.Token("c")}, said{5 * s, result(petri.Cancelled)},
		said{6 * s, ask.Token("d")}, said{6 * s, forget.Token(unit{})}, said{7 * s, result(petri.Succeeded)},
		said{8 * s, ask.Token("e")}, said{8500 * time.Millisecond, hangup.Token(unit{})})
	same(t, show(r.Ended()), `
look_up 1s..1s in net desk@0s {firing=look_up net=desk seq=3}
begin 1s..1.5s in net desk@0s from look_up@1s {net=desk outcome=succeeded place=begin seq=3}
look_up 2s..2s in net desk@0s {firing=look_up net=desk seq=7}
begin 2s..2s in net desk@0s from look_up@2s {net=desk outcome=failed place=begin seq=7} error: the task failed
look_up 3s..3s in net desk@0s {firing=look_up net=desk seq=11}
begin 3s..4s in net desk@0s from look_up@3s {net=desk outcome=cancelled place=begin seq=11}
look_up 6s..6s in net desk@0s {firing=look_up net=desk seq=17}
begin 6s..6s in net desk@0s from look_up@6s {net=desk outcome=cancelled place=begin seq=17}
look_up 8s..8s in net desk@0s {firing=look_up net=desk seq=24}
begin 8s..8.5s in net desk@0s from look_up@8s {net=desk outcome=unfinished place=begin seq=24}
net desk 0s..8.5s {net=desk run=17}
  1s look_up {seq=3}
  1.5s give (answer[succeeded]) {seq=5}
  2s look_up {seq=7}
  2s give (answer[failed]) {seq=9}
  3s look_up {seq=11}
  4s lose_patience {seq=12}
  5s recover (answer[cancelled]) {seq=15}
  6s look_up {seq=17}
  6s let_go {seq=19}
  7s recover (answer[succeeded]) {seq=22}
  8s look_up {seq=24}
  8.5s end {seq=26}
`)
	if got := r.Started(); len(got) != 11 || o.Stored() == 0 {
		t.Errorf("%d spans began, %d stored", len(got), o.Stored())
	}
}

// TestOTelNotSampled checks that a run that is not sampled costs one span and no allocation.
func TestOTelNotSampled(t *testing.T) {
	p := desk(t)
	var m memory
	play(t, p, &m, said{1, ask.Token("a")}, said{2, result(petri.Failed)}, said{3, ask.Token("b")})
	tracer, r := recorded(sdk.WithSampler(sdk.NeverSample()))
	for name, o := range map[string]*OTel{
		"sampled out": NewOTel(tracer, p, OTelConfig{Start: epoch}),
		"no tracer":   NewOTel(nil, p, OTelConfig{Start: epoch}),
	} {
		o.Append(m.events[:1])
		if n := testing.AllocsPerRun(100, func() { o.Append(m.events) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		SendNote(o, Note{Kind: Late})
		o.Close(time.Second)
		if o.state != otelDone || o.Stored() != m.Stored() {
			t.Errorf("%s: state %d, %d stored", name, o.state, o.Stored())
		}
	}
	if len(r.Started()) != 0 {
		t.Errorf("%d spans were recorded", len(r.Started()))
	}
}

// TestOTelLimits exceeds the limits of a run.
func TestOTelLimits(t *testing.T) {
	tracer, r := recorded()
	p := desk(t)
	o := NewOTel(tracer, p, OTelConfig{Start: epoch, EventsMax: 2, TasksMax: 1,
		Select: func(e petri.Event) bool { return e.Kind != petri.Started }})
	m := play(t, p, o, said{1, ask.Token("a")}, said{2, result(petri.Succeeded)},
		said{3, ask.Token("b")}, said{4, forget.Token(unit{})})
	SendNote(o, Note{At: 5, Kind: Late})
	o.Close(6)
	o.Close(7)
	_ = m.Inject(8, hangup.Token(unit{}))
	o.Append(m.Advance(8).Events)
	same(t, show(r.Ended()), `
look_up 1ns..1ns in net desk@0s {firing=look_up net=desk seq=3}
begin 1ns..2ns in net desk@0s from look_up@1ns {net=desk outcome=succeeded place=begin seq=3}
net desk 0s..6ns {events.left_out=8 net=desk tasks.left_out=1}
  1ns injected ask {seq=2}
  1ns look_up {seq=3}
`)
}

// TestOTelFault ends a run with a fault.
func TestOTelFault(t *testing.T) {
	tracer, r := recorded()
	p := desk(t)
	parent := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2},
		TraceFlags: trace.FlagsSampled})
	none := func(petri.Event) bool { return false }
	o := NewOTel(tracer, p, OTelConfig{Start: epoch, Parent: parent, Select: none})
	m := play(t, p, o, said{1, ask.Token("a")})
	SendNote(o, Note{At: 2, Kind: Late, Value: 30 * time.Millisecond})
	o.Append(m.Fault().Events)
	same(t, show(r.Ended()), `
look_up 1ns..1ns in net desk@0s {firing=look_up net=desk seq=3}
begin 1ns..1ns in net desk@0s from look_up@1ns {net=desk outcome=unfinished place=begin seq=3}
net desk 0s..1ns in  {net=desk} error: the run broke an invariant
  2ns late {lateness_seconds=0.03}
`)
	root := r.Ended()[2]
	if !root.Parent().Equal(parent) || root.SpanContext().TraceID() != parent.TraceID() {
		t.Errorf("the run's span is under %v", root.Parent())
	}
}

// TestOTelShowsNoFrames checks the default selection on random calls.
func TestOTelShowsNoFrames(t *testing.T) {
	p := line(t)
	for seed := range uint64(10) {
		var m memory
		tracer, r := recorded()
		o := NewOTel(tracer, p, OTelConfig{Start: epoch, EventsMax: 100})
		call(t, p, seed, 100, Tee(o, &m))
		o.Close(time.Hour)
		var want []string
		for _, e := range m.events {
			if e.Kind == petri.Fired && !p.Transitions()[e.Index].Frame {
				want = append(want, p.FiringName(e))
			}
		}
		spans := r.Ended()
		if len(spans) != 1 || len(r.Started()) != 1 {
			t.Fatalf("seed %d: %d spans", seed, len(spans))
		}
		var got []string
		for _, e := range spans[0].Events() {
			got = append(got, e.Name)
		}
		if k := min(len(want), 100); !slices.Equal(got, want[:k]) {
			t.Errorf("seed %d: %d events, want %d", seed, len(got), k)
		}
	}
}

func TestOTelRefuses(t *testing.T) {
	p := desk(t)
	for name, c := range map[string]struct {
		cfg  OTelConfig
		want string
	}{
		"no start":          {OTelConfig{}, "Start is not set"},
		"negative events":   {OTelConfig{Start: epoch, EventsMax: -1}, "span events"},
		"too many events":   {OTelConfig{Start: epoch, EventsMax: maxOTel + 1}, "span events"},
		"too many tasks":    {OTelConfig{Start: epoch, TasksMax: maxOTel + 1}, "tasks"},
		"as many as it can": {OTelConfig{Start: epoch, EventsMax: maxOTel, TasksMax: maxOTel}, "<nil>"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%s: %s", name, got)
				}
			}()
			NewOTel(nil, p, c.cfg)
		}()
	}
}

// TestOTelHasty starts a task again before the cancelled one has delivered, and continues after
// Close.
func TestOTelHasty(t *testing.T) {
	task := lookup()
	found, late := petri.Result[int]{}, petri.Result[int]{Outcome: petri.Cancelled}
	p, err := petri.Compile(&petri.Net{
		Name:  "hasty",
		Env:   []petri.Env{{Place: ask, Capacity: 4}, {Place: forget}},
		Tasks: []petri.AnyTask{task},
		Transitions: []petri.Transition{
			{Name: "look_up", In: petri.Arcs{ask}, Inhibit: petri.Arcs{task.InFlight}, Out: petri.And(task.Start, task.InFlight),
				Action: func(f *petri.Firing) { task.Start.Put(f, ask.Get(f)) }},
			{Name: "give", In: petri.Arcs{task.Done.Is(found), task.InFlight}},
			{Name: "drop", In: petri.Arcs{task.Done.Is(late)}},
			{Name: "let_go", In: petri.Arcs{forget, task.InFlight}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	tracer, r := recorded()
	o := NewOTel(tracer, p, OTelConfig{Start: epoch})
	m := play(t, p, o, said{1, ask.Token("a")}, said{2, forget.Token(unit{})}, said{3, ask.Token("b")},
		said{4, result(petri.Cancelled)}, said{5, result(petri.Succeeded)}, said{6, ask.Token("c")})
	o.Close(7)
	_ = m.Inject(8, result(petri.Succeeded))
	_ = m.Inject(9, ask.Token("d"))
	o.Append(m.Advance(9).Events)
	same(t, show(r.Ended()), `
look_up 1ns..1ns in net hasty@0s {firing=look_up net=hasty seq=3}
begin 1ns..2ns in net hasty@0s from look_up@1ns {net=hasty outcome=cancelled place=begin seq=3}
look_up 3ns..3ns in net hasty@0s {firing=look_up net=hasty seq=8}
begin 3ns..5ns in net hasty@0s from look_up@3ns {net=hasty outcome=succeeded place=begin seq=8}
look_up 6ns..6ns in net hasty@0s {firing=look_up net=hasty seq=14}
begin 6ns..7ns in net hasty@0s from look_up@6ns {net=hasty outcome=unfinished place=begin seq=14}
net hasty 0s..7ns {net=hasty}
  1ns look_up {seq=3}
  2ns let_go {seq=5}
  3ns look_up {seq=8}
  4ns drop {seq=10}
  5ns give {seq=12}
  6ns look_up {seq=14}
`)
	if len(r.Started()) != len(r.Ended()) {
		t.Errorf("%d spans began and %d ended", len(r.Started()), len(r.Ended()))
	}
}
