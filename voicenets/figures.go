package voicenets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/stateclass"
)

// Figure is how long something takes in a session at most, over all that a
// hostile environment may do and all times at which it may.
type Figure struct {
	Name, Doc string
	// Most is the worst case, which some run of the slice attains.
	Most time.Duration
	// Limit is what the configuration promises.
	Limit   time.Duration
	Classes int // of the slice
}

// deadline is that something takes no longer than a limit.
type deadline struct {
	name, doc   string
	keep        string // transitions whose waits bound it
	places      string
	start, stop string // events, see verify.Observer
	limit       time.Duration
	given       []claim // that slices prove
}

// figureMax is how many classes the slice of one figure may have.
const figureMax = 1 << 16

// deadlines are those of a configuration.
func deadlines(c Config) []deadline {
	list := []deadline{
		{name: "call", doc: "a call", keep: "end_longest_call", start: "start", stop: "+call_ended", limit: c.MaxDuration},
		{name: "drain", doc: "from the wish to shut down until the call takes its leave", keep: "leave_now",
			places: "draining parting", start: "+draining", stop: "-draining +call_ended", limit: c.DrainWithin},
		{name: "farewell", doc: "from taking leave to the end of the call", keep: "part_at_last",
			places: "parting", start: "+parting", stop: "+call_ended", limit: c.Farewell},
		{name: "answer", doc: "from the end of the caller's turn to a reply, a prompt or the notice that there is none, " +
			"hold and the caller's own speech excluded", keep: "reach_deadline", places: "owing reply_owed",
			start: "+owing", stop: "-owing +reply_owed +call_ended", limit: c.ReplyDeadline},
		{name: "connection", doc: "the use of one connection to the model", keep: "age_link rotate_soon rotate_later",
			places: "online going_away", start: "+online", stop: "-online +call_ended",
			limit: c.RotateAfter + c.RotateWithin + c.RotateSoon},
		{name: "going away", doc: "from the model's wish to end the connection soon to its replacement", keep: "rotate_soon",
			places: "online going_away", start: "+going_away[soon]", stop: "-online +call_ended", limit: c.RotateSoon},
		{name: "retry", doc: "the wait before a lost connection is dialled again", keep: "retry_1 retry_2 retry_3",
			places: "link/waiting spent online dialling", start: "+link/waiting", stop: "-link/waiting +call_ended",
			limit: c.Backoff[2]},
		{name: "dial", doc: "from one dial too many until the next may begin", keep: "regain_dial",
			places: "dial_credit", start: "-dial_credit", stop: "+dial_credit +call_ended", limit: c.DialEvery},
		{name: "digits", doc: "an entry of digits after its last key", keep: "time_out_entry", places: "digits entered",
			start: "+digits", stop: "-digits +call_ended", limit: c.DigitGap},
	}
	if c.pauses() {
		list = append(list, deadline{name: "pause", doc: "a pause, until it is confirmed or the reply resumes",
			keep: "resume_unconfirmed", places: "confirming", start: "+confirming", stop: "-confirming +call_ended",
			limit: c.ConfirmWindow, given: []claim{pauseClaim(c)}},
			// At once, as V3-clear says of a reply that is cut without a pause.
			deadline{name: "barge-in to clear", doc: "from speech over a reply, which pauses it, to the command that " +
				"clears it at the peer", keep: "watcher/clear", places: "confirming clear", start: "+confirming",
				stop: "-clear"})
	}
	for i := range Slot(c.ToolSlots) {
		r := string(running(i))
		list = append(list, deadline{name: fmt.Sprintf("tool %d", i), doc: "a call of a tool, until the model has its reply",
			keep: fmt.Sprintf("time_out_call_%d", i), places: r, start: "+" + r, stop: "-" + r + " +call_ended",
			limit: c.ToolTimeout})
	}
	if c.Consent {
		list = append(list, deadline{name: "consent", doc: "from the question to the caller's consent, or the end",
			keep: "give_up_on_consent", places: "considering", start: "+considering", stop: "-considering +call_ended",
			limit: c.ConsentWait})
	}
	return list
}

// part is the slice of a session that decides about a deadline.
func (d deadline) part() verify.Part {
	return verify.Part{Slice: verify.Slice{Name: "time of " + d.name, Keep: strings.Fields(d.keep),
		Places: strings.Fields(d.places)}, Given: properties(d.given)}
}

// measure computes the figure of a deadline in its slice.
func (d deadline) measure(ctx context.Context, m *verify.Model) (Figure, error) {
	f := Figure{Name: d.name, Doc: d.doc, Limit: d.limit}
	e, g, err := stateclass.Measure(ctx, m, verify.Observer{Name: "watched", Start: strings.Fields(d.start),
		Stop: strings.Fields(d.stop), Limit: d.limit + time.Nanosecond}, stateclass.Options{Max: figureMax})
	if err != nil {
		return f, fmt.Errorf("voicenets: figure %s: %w", d.name, err)
	}
	f.Most, f.Classes = e.Most, g.Classes()
	if !e.Stopped {
		return f, fmt.Errorf("voicenets: figure %s (%s): it is never seen", d.name, d.doc)
	}
	if !g.Complete || e.Overdue {
		return f, fmt.Errorf("voicenets: figure %s (%s): more than %v, complete %v", d.name, d.doc, d.limit, g.Complete)
	}
	return f, nil
}

// Figures computes the worst cases of a session. One that exceeds its limit is
// an error.
func Figures(ctx context.Context, c Config) ([]Figure, error) {
	n, err := Session(c)
	if err != nil {
		return nil, err
	}
	o, err := obligationsOf(n, c)
	if err != nil {
		return nil, err
	}
	claims, err := o.timed(ctx, Prover{})
	if err != nil {
		return nil, err
	}
	var list []Figure
	for i, claim := range claims {
		if claim.Outcome != verify.Proved {
			return nil, errors.New(claim.Reason)
		}
		d := o.deadlines[i]
		list = append(list, Figure{Name: d.name, Doc: d.doc, Most: claim.Most, Limit: d.limit, Classes: claim.States})
	}
	return list, nil
}
