package petri

// Task is slow work beside the net.
//
// A transition starts the work when one firing of it produces at Start and at InFlight. The work
// runs outside the machine, which receives the result as a token at Done. A firing that empties
// InFlight without consuming from Done cancels the work. Cancelled work still delivers one result,
// with outcome Cancelled, so a slot is free again only when the goroutine of the work has returned.
// A time-out is a timed transition that consumes InFlight.
type Task[I, O any] struct {
	Start    Place[I]         // an output place
	InFlight Place[Unit]      // marked while the work runs
	Done     Place[Result[O]] // an environment place of capacity 1
}

// AnyTask is a Task of any colours. Only Task implements it.
type AnyTask interface {
	places() (start, inFlight, done AnyPlace)
}

func (t Task[I, O]) places() (start, inFlight, done AnyPlace) { return t.Start, t.InFlight, t.Done }

// Outcome says how a task ended. It is the key of a Result.
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

// String returns the name of the outcome.
func (o Outcome) String() string { return outcomeNames[o] }

// Result is what a task delivers: a value, or the reason why there is none.
type Result[O any] struct {
	Outcome Outcome
	Value   O      // beside an error what the work returned with it, which is mostly nothing
	Reason  string // text of the error or panic of the work; may be ""
}

// Key returns the outcome as a key.
func (r Result[O]) Key() Key { return Key(r.Outcome) }

// KeyNames returns the names of the outcomes.
func (r Result[O]) KeyNames() []string { return outcomeNames }
