package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/verify/netmodel"
	"github.com/voicegw/voicegw/verify/slice"
	"github.com/voicegw/voicegw/voicenets"
)

// outlasting lists the places of the gateway's own parts in which tokens may stay while nothing
// comes from outside, with the reason. In a resting session every other place is empty, or a timer
// that reads or takes its token runs, or the place waits for a condition of waitsWhile: see
// stranded. Of places of slots, it lists those of a session with so many slots.
func outlasting(slots int) map[string]string {
	list := map[string]string{}
	add := func(why, places string) {
		for _, p := range strings.Fields(places) {
			list[p] = why
		}
	}
	add("it says what the call is like, until somebody changes that",
		"quiet input_closed muted held protected unconsented consent_due uplink_held online patience unanswered "+
			"reprompted greeting_due model_turn")
	add("it waits until nothing is said (claims on views show that it goes then)", "notes_due pending_request")
	add("it is kept for later",
		"last_turn last_handle backlog connected_before firm retries_spent nudged renewed filler_played back_channel_speech "+
			"dial_credit")
	add("the caller's turn or speech, which the caller ends", "in_turn speaking pending_speech")
	add("a reply, which the peer plays and acknowledges",
		"replying reply_audio unacked unplayed end_marked reply_cut_short "+
			"cut_unreported parked prompting prompt_due turn_end_pending discarding ack_timer")
	add("the connection, which follows the network", "dialling closing dial_now dial_blocked backing_off restoring "+
		"backlog_due "+
		"going_away renewal model_given_up silence_noticed")
	for s := range voicenets.Slot(slots) {
		list[string(voicenets.ToolCurrent(s))] = "it is kept for later"
		list[string(voicenets.ToolDraining(s))] = "a function that was stopped has yet to return"
		list[string(voicenets.SlotFree(s))] = "there is room for a function"
	}
	return list
}

// waitsWhile lists conditions under which a place may hold tokens that no timer reads or takes.
func waitsWhile() map[string]string {
	return map[string]string{
		string(voicenets.ModelAudio):   "prompting reply_audio",
		string(voicenets.PromptAudio):  "reply_audio",
		string(voicenets.ReplyOverdue): "replying speaking held in_turn",
		string(voicenets.PendingText):  "in_turn replying held unconsented protected model_turn",
		"entry_protected":              "protected",
		string(voicenets.Ending):       "farewell",
	}
}

// left is the claim that a place is empty in a resting session, or that its token waits for
// something that comes by itself.
type left struct {
	claim
	place string
}

// stranded claims that a session of a configuration leaves no token behind. It makes no claim about
// the inside of replacement parts, or about places that a left-out part would handle.
func stranded(c voicenets.Config, closed *petri.Program) []left {
	keeps := outlasting(c.ToolSlots)
	for _, place := range unattended(c) {
		keeps[place] = "the part that looked after it is left out"
	}
	var list []left
	for i, p := range closed.Places() {
		name := lastPart(p.Name)
		group, inside := strings.CutPrefix(strings.TrimSuffix(p.Name, "/"+name), "session/")
		if !inside && name != p.Name || inside && replaces(c, voicenets.Part(group)) || p.Out || p.Final || p.Sink ||
			p.Payload ||
			keeps[name] != "" || timed(closed, i) {
			continue
		}
		text := fmt.Sprintf("%q && !ended", p.Name)
		for _, while := range strings.Fields(waitsWhile()[name]) {
			if slices.ContainsFunc(closed.Places(), func(p petri.PlaceInfo) bool { return lastPart(p.Name) == while }) {
				text += " && !" + while
			}
		}
		for _, t := range closed.Transitions() {
			if strings.HasPrefix(t.Group, "session/") && !t.When.AtOnce() && looksAt(t, i) {
				text += fmt.Sprintf(" && !can(%q)", t.Name)
			}
		}
		list = append(list, left{claim{"left-" + name, text, "Nothing is left behind in " + name + "."}, p.Name})
	}
	return list
}

// unattended lists the places that left-out parts take from or read.
func unattended(c voicenets.Config) []string {
	var list []string
	for _, p := range ownParts(c) {
		if !c.LeavesOut(p.name) {
			continue
		}
		for _, t := range p.net.Transitions {
			for _, a := range slices.Concat(t.In, t.Read) {
				list = append(list, petri.ArcPlace(a).String())
			}
		}
	}
	return list
}

// timed reports that a timer runs whenever a place is marked because the timer waits for nothing
// else. A token there is never left behind.
func timed(closed *petri.Program, place int) bool {
	return slices.ContainsFunc(closed.Transitions(), func(t petri.TransitionInfo) bool {
		return strings.HasPrefix(t.Group, "session/") && !t.When.AtOnce() && looksAt(t, place) &&
			!slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
				enables := a.Kind != petri.OutArc && a.Kind != petri.ResetArc
				return enables && (a.Place != place || a.Label != "" || a.Count != 1 || a.Kind == petri.InhibitArc)
			})
	})
}

// looksAt reports whether a transition takes or reads the tokens of a place.
func looksAt(t petri.TransitionInfo, place int) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return a.Place == place && (a.Kind == petri.InArc || a.Kind == petri.ReadArc)
	})
}

// leaveNothing adds each claim of stranded to the first slice that has what the claim names, or to
// a slice of its own.
func (k *proving) leaveNothing(models []*netmodel.Model) {
	for _, l := range stranded(k.config, k.relaxed) {
		p := l.property()
		i := slices.IndexFunc(models, func(m *netmodel.Model) bool {
			_, err := vclaim.BadMarkings(p.Claim, m)
			return err == nil
		})
		if i >= 0 {
			k.parts[i].Props = append(k.parts[i].Props, p)
			continue
		}
		k.parts = append(k.parts, verify.Part{Slice: slice.Slice{Name: l.name}, Props: []*verify.Property{p}})
	}
}
