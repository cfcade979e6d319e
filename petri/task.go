package petri

// Task is slow work beside the net. A transition produces at Start and
// InFlight in one firing; the work runs outside; its result is injected at
// Done. Emptying InFlight in any firing that does not consume from Done
// cancels the work; its goroutine still delivers one result, with outcome
// Cancelled, so a slot is free again only when its goroutine has returned.
// A time-out is a timed transition that consumes InFlight.
type Task[I, O any] struct {
	Start    Place[I]
	InFlight Place[Unit]
	Done     Place[Result[O]]
}

// AnyTask is a Task of any colours.
type AnyTask interface {
	places() (start, inFlight, done AnyPlace)
}

func (t Task[I, O]) places() (start, inFlight, done AnyPlace) { return t.Start, t.InFlight, t.Done }

// Outcome is the key of a Result.
type Outcome uint8

// The outcomes of a task.
const (
	Succeeded Outcome = iota
	Failed
	Cancelled
)

var outcomeNames = []string{"succeeded", "failed", "cancelled"}

// Key returns o as a key.
func (o Outcome) Key() Key { return Key(o) }

// String is the outcome in a word.
func (o Outcome) String() string { return outcomeNames[o] }

// Result is what a task delivers: a value, or why there is none.
type Result[O any] struct {
	Outcome Outcome
	Value   O
	Reason  string // of a failure
}

// Key returns the outcome as a key.
func (r Result[O]) Key() Key { return Key(r.Outcome) }

// KeyNames names the outcomes.
func (r Result[O]) KeyNames() []string { return outcomeNames }
