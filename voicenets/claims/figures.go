package claims

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/slice"
	"github.com/voicegw/voicegw/verify/stateclass"
	"github.com/voicegw/voicegw/voicenets"
)

// Figure is the longest time that something takes in a session, over all moves of a hostile
// environment and all times of those moves.
type Figure struct {
	Name, Doc string
	// Most is the worst case. Some run of the slice attains it.
	Most time.Duration
	// Limit is the time that the configuration promises.
	Limit   time.Duration
	Classes int // of the slice
}

// deadline claims that something takes no longer than a limit.
type deadline struct {
	name, doc   string
	keep        string // transitions whose waits bound it
	places      string
	start, stop string // events; see netmodel.Observer
	limit       time.Duration
	given       []claim // claims that slices prove
}

// figureMax is the most classes that the slice of one figure may have.
const figureMax = 1 << 16

// deadlines lists the deadlines of a configuration.
func deadlines(c voicenets.Config) []deadline {
	list := []deadline{
		{name: "call", doc: "a call", keep: "end_longest_call", start: "start", stop: "+call_ended", limit: c.MaxDuration},
		{name: "drain", doc: "from the request to shut down until the farewell begins", keep: "end_drain_in_time",
			places: "draining farewell", start: "+draining", stop: "-draining +call_ended", limit: c.DrainWithin},
		{name: "farewell", doc: "from taking leave to the end of the call", keep: "end_farewell_in_time",
			places: "farewell", start: "+farewell", stop: "+call_ended", limit: c.Farewell},
		{name: "answer", doc: "from the end of the caller's turn to a reply, a prompt or the notice that there is none, " +
			"hold and the caller's own speech excluded", keep: "reach_deadline", places: "reply_pending reply_overdue",
			start: "+reply_pending", stop: "-reply_pending +reply_overdue +call_ended", limit: c.ReplyDeadline},
		{name: "connection", doc: "the use of one connection to the model", keep: "age_link rotate_soon rotate_later",
			places: "online going_away", start: "+online", stop: "-online +call_ended",
			limit: c.RotateAfter + c.RotateWithin + c.RotateSoon},
		{name: "going away", doc: "from the model's request to end the connection soon to its replacement",
			keep:   "rotate_soon",
			places: "online going_away", start: "+going_away[soon]", stop: "-online +call_ended", limit: c.RotateSoon},
		{name: "retry", doc: "the wait before a lost connection is dialled again", keep: "retry_1 retry_2 retry_3",
			places: "link/backing_off retries_spent online dialling", start: "+link/backing_off",
			stop:  "-link/backing_off +call_ended",
			limit: c.Backoff[2]},
		{name: "dial", doc: "from one dial too many until the next may begin", keep: "regain_dial",
			places: "dial_credit", start: "-dial_credit", stop: "+dial_credit +call_ended", limit: c.DialEvery},
		{name: "digits", doc: "an entry of digits after its last key", keep: "time_out_entry", places: "entry entry_complete",
			start: "+entry", stop: "-entry +call_ended", limit: c.DigitGap},
	}
	if pauses(c) {
		list = append(list, deadline{name: "pause", doc: "a pause, until it is confirmed or the reply resumes",
			keep: "resume_unconfirmed", places: "confirming", start: "+confirming", stop: "-confirming +call_ended",
			limit: c.ConfirmWindow, given: []claim{pauseClaim(c)}},
			// At once, as V3-clear claims of a reply that is cut without a pause.
			deadline{name: "barge-in to clear", doc: "from speech over a reply, which pauses it, to the command that " +
				"clears it at the peer", keep: "watcher/clear", places: "confirming clear", start: "+confirming",
				stop: "-clear"})
	}
	for i := range voicenets.Slot(c.ToolSlots) {
		r := string(voicenets.ToolRunning(i))
		list = append(list,
			deadline{name: fmt.Sprintf("tool %d", i), doc: "a call of a tool, until the model has its reply",
				keep: fmt.Sprintf("time_out_call_%d", i), places: r, start: "+" + r, stop: "-" + r + " +call_ended",
				limit: c.ToolTimeout})
	}
	if c.Consent {
		list = append(list, deadline{name: "consent", doc: "from the question to the caller's consent, or the end",
			keep: "give_up_on_consent", places: "consent_pending", start: "+consent_pending",
			stop:  "-consent_pending +call_ended",
			limit: c.ConsentWait})
	}
	return list
}

// part is the slice of a session that decides a deadline.
func (d deadline) part() verify.Part {
	return verify.Part{Slice: slice.Slice{Name: "time of " + d.name, Keep: strings.Fields(d.keep),
		Places: strings.Fields(d.places)}, Given: properties(d.given)}
}

// measure computes the figure of a deadline in its slice.
func (d deadline) measure(ctx context.Context, m *netmodel.Model) (Figure, error) {
	f := Figure{Name: d.name, Doc: d.doc, Limit: d.limit}
	e, g, err := stateclass.Measure(ctx, m, netmodel.Observer{Name: "watched", Start: strings.Fields(d.start),
		Stop: strings.Fields(d.stop), Limit: d.limit + time.Nanosecond}, stateclass.Options{Max: figureMax})
	if err != nil {
		return f, fmt.Errorf("claims: figure %s: %w", d.name, err)
	}
	f.Most, f.Classes = e.Most, g.Classes()
	if !e.Stopped {
		return f, fmt.Errorf("claims: figure %s (%s): it is never seen", d.name, d.doc)
	}
	if !g.Complete || e.Overdue {
		return f, fmt.Errorf("claims: figure %s (%s): more than %v, complete %v", d.name, d.doc, d.limit, g.Complete)
	}
	return f, nil
}

// Figures computes the worst cases of a session. It returns an error if one exceeds its limit.
func Figures(ctx context.Context, c voicenets.Config) ([]Figure, error) {
	n, err := voicenets.Session(c)
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
