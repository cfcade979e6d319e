package voicenets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// outlasting are the places of our sessions in which tokens may lie for as long
// as nothing comes from outside, and why. Every other place is empty where a
// session rests, or a timer that looks at what it holds is under way, or it waits
// for what waitsWhile names: see stranded.
func outlasting() map[string]string {
	list := map[string]string{}
	add := func(why, places string) {
		for _, p := range strings.Fields(places) {
			list[p] = why
		}
	}
	add("it says what the call is like, until somebody changes that",
		"quiet deaf muted held protected unconsented unasked withheld online patience said asked greet model_turn")
	add("it is kept for later", "last_turn last_handle backlog served firm spent nudged renewed filled muffled "+
		"dial_credit "+
		"current_0 current_1 current_2 current_3")
	add("the caller's turn or speech, which the caller ends", "in_turn speaking unheard")
	add("a reply, which the peer plays and acknowledges", "replying reply_audio unacked unplayed end_marked cut_short "+
		"untold parked prompting prompt_due owed_end discarding ack_watch")
	add("the connection, of which the network tells", "dialling closing dial_now dial_barred waiting restoring "+
		"untold_audio "+
		"going_away renewal lost missed")
	add("a function that was stopped, which has yet to return; or the room for one",
		"draining_0 draining_1 draining_2 draining_3 free_0 free_1 free_2 free_3")
	return list
}

// waitsWhile are conditions under which a place may hold tokens that no timer
// looks at.
func waitsWhile() map[string]string {
	return map[string]string{
		string(ModelAudio):  "prompting reply_audio",
		string(PromptAudio): "reply_audio",
		string(overdue):     "replying speaking held in_turn",
		string(typed):       "in_turn replying held unconsented protected model_turn",
		"entry_protected":   "protected",
		string(leaving):     "parting",
	}
}

// left is a claim that a place is empty where a session rests, or waits for
// something that comes by itself.
type left struct {
	claim
	place string
}

// stranded are the claims that a session of a configuration leaves nothing
// behind. They say nothing of the inside of parts in the place of ours, and of
// places that a part which is left out would look after.
func stranded(c Config, closed *petri.Program) []left {
	keeps := outlasting()
	for _, place := range c.unattended() {
		keeps[place] = "the part that looked after it is left out"
	}
	var list []left
	for i, p := range closed.Places() {
		name := lastPart(p.Name)
		group, inside := strings.CutPrefix(strings.TrimSuffix(p.Name, "/"+name), "session/")
		if !inside && name != p.Name || inside && c.replaces(Part(group)) || p.Out || p.Final || p.Sink || p.Payload ||
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

// unattended are the places that parts which are left out take from or read.
func (c Config) unattended() []string {
	var list []string
	for _, p := range parts(c) {
		if own, ok := c.Parts[p.name]; !ok || own != nil {
			continue
		}
		for _, t := range p.net(c).Transitions {
			for _, a := range slices.Concat(t.In, t.Read) {
				list = append(list, petri.ArcPlace(a).String())
			}
		}
	}
	return list
}

// timed reports that a timer is under way whenever a place is marked, because
// it waits for nothing else: what is there is never left behind.
func timed(closed *petri.Program, place int) bool {
	return slices.ContainsFunc(closed.Transitions(), func(t petri.TransitionInfo) bool {
		return strings.HasPrefix(t.Group, "session/") && !t.When.AtOnce() && looksAt(t, place) &&
			!slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
				enables := a.Kind != petri.OutArc && a.Kind != petri.ResetArc
				return enables && (a.Place != place || a.Label != "" || a.Count != 1 || a.Kind == petri.InhibitArc)
			})
	})
}

// looksAt reports whether a transition takes or reads what is in a place.
func looksAt(t petri.TransitionInfo, place int) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return a.Place == place && (a.Kind == petri.InArc || a.Kind == petri.ReadArc)
	})
}

// leaveNothing asks each claim that nothing is left behind of the first slice
// that has what it names, or of a slice of its own.
func (k *proving) leaveNothing(models []*verify.Model) {
	for _, l := range stranded(k.config, k.relaxed) {
		p := l.property()
		i := slices.IndexFunc(models, func(m *verify.Model) bool {
			_, err := p.Bad(m)
			return err == nil
		})
		if i >= 0 {
			k.parts[i].Props = append(k.parts[i].Props, p)
			continue
		}
		k.parts = append(k.parts, verify.Part{Slice: verify.Slice{Name: l.name}, Props: []*verify.Property{p}})
	}
}
