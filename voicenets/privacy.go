package voicenets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// private are the properties of V8 that the structure of a session tells: by
// which transitions the caller's input leaves, where it is kept, and what closes
// the ear. The claims about markings are in Proofs.
func private() []*verify.Property {
	return []*verify.Property{captured(), leaves(), taken(), keys(), closing(), forgotten()}
}

// closedStates are the states in which nothing of the caller's may leave. The
// microphone alone is muted, so a mute is none of them.
var closedStates = []string{string(held), string(protected), string(unconsented)}

// unlessClosed lists the closed states in which a transition may fire. A session
// that does not have a state is never in it.
func unlessClosed(p *petri.Program, t petri.TransitionInfo) (open []string) {
	for _, s := range closedStates {
		if p.Place(s) >= 0 && !hasArc(p, t, petri.InhibitArc, s) {
			open = append(open, s)
		}
	}
	return open
}

// leaves says by what the caller's input leaves for the model: frames, while the
// ear is open; text and turns that are told again, while no closed state holds;
// and the conversation that a dial has to tell where there is no handle.
func leaves() *verify.Property {
	return ofProgram("V8-leaves", "Text, turns that are told again and the conversation that a dial tells do not "+
		"leave on hold, "+
		"during protected input or without consent.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			open := unlessClosed(p, t)
			for _, to := range []string{string(TextUp), string(TurnAgain)} {
				if hasPut(p, t, to, "") && len(open) > 0 {
					out = append(out, fmt.Sprintf("%s puts out %s while %s", t.Name, to, strings.Join(open, " or ")))
				}
			}
			if hasPut(p, t, string(AudioUp), "") && !hasArc(p, t, petri.InhibitArc, string(deaf)) {
				out = append(out, t.Name+" puts out audio_up with a closed ear")
			}
			first := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
				return a.Kind == petri.InhibitArc && a.Count == 1 && lastPart(p.Places()[a.Place].Name) == "served"
			})
			resumes := hasArc(p, t, petri.ReadArc, string(lastHandle))
			open = slices.DeleteFunc(open, func(s string) bool { return s == string(unconsented) }) // nothing is kept then
			if hasPut(p, t, string(Dial), "") && !first && !resumes && len(open) > 0 {
				out = append(out, fmt.Sprintf("%s dials while %s, and has to tell the conversation", t.Name,
					strings.Join(open, " or ")))
			}
		}
		return out
	})
}

// captured says what becomes of frames that come with a closed ear: one
// transition drops them, and no other takes any.
func captured() *verify.Property {
	return ofProgram("V8-captured", "Audio that comes with a closed ear is dropped.", func(p *petri.Program) []string {
		var out []string
		drops := p.Place(string(CallerAudio)) < 0
		for _, t := range p.Transitions() {
			switch {
			case !hasTake(p, t, string(CallerAudio)):
			case hasArc(p, t, petri.ReadArc, string(deaf)) && len(t.Arcs) == 2:
				drops = true
			case !hasArc(p, t, petri.InhibitArc, string(deaf)):
				out = append(out, t.Name+" keeps or sends a frame with a closed ear")
			}
		}
		if !drops {
			out = append(out, "nothing drops the frames that come with a closed ear")
		}
		return out
	})
}

// taken says that text which comes in a closed state is dropped.
func taken() *verify.Property {
	return ofProgram("V8-text", "Text that comes on hold, during protected input or without consent is dropped, "+
		"and somebody is told.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				if !hasTake(p, t, string(CallerText)) || hasPut(p, t, string(TextLost), "") {
					continue
				}
				if open := unlessClosed(p, t); len(open) > 0 {
					out = append(out, fmt.Sprintf("%s keeps text while %s", t.Name, strings.Join(open, " or ")))
				}
			}
			return out
		})
}

// keys says what becomes of keys of the phone: during protected input they go to
// the host alone, and in the other closed states they are dropped.
func keys() *verify.Property {
	return ofProgram("V8-keys", "Keys that are pressed during protected input go to the host alone; on hold and "+
		"without consent "+
		"they are dropped.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			alone := hasArc(p, t, petri.ReadArc, string(protected))
			keeps := hasPut(p, t, string(digits), "") || hasPut(p, t, string(entered), "")
			switch open := unlessClosed(p, t); {
			case hasTake(p, t, string(CallerDigit)) && keeps && !alone && len(open) > 0:
				out = append(out, fmt.Sprintf("%s keeps a key while %s", t.Name, strings.Join(open, " or ")))
			case turns(p, t, "entry_protected") && !hasArc(p, t, petri.ResetArc, string(digits)):
				out = append(out, t.Name+" keeps digits of an entry that began before protected input or during it")
			case hasPut(p, t, string(Collected), "") && !alone:
				out = append(out, t.Name+" gives the host digits that are not protected")
			case hasTake(p, t, string(entered)) && !alone && !hasArc(p, t, petri.InhibitArc, string(protected)):
				out = append(out, t.Name+" types digits that are protected")
			}
		}
		return out
	})
}

// turns reports whether a transition takes or puts what a place holds, by the
// last part of its name.
func turns(p *petri.Program, t petri.TransitionInfo, place string) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return (a.Kind == petri.InArc || a.Kind == petri.OutArc) && lastPart(p.Places()[a.Place].Name) == place
	})
}

// closing says what a firing does that begins a closed state: it closes the ear,
// drops the frames that wait, and holds the queue behind the net.
func closing() *verify.Property {
	return ofProgram("V8-closing", "The firing that begins a hold, protected input or the time without consent "+
		"closes the ear, drops "+
		"the frames that wait and holds or empties the queue to the model.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			for _, s := range closedStates {
				if !hasPut(p, t, s, "") {
					continue
				}
				queue := string(HoldUplink)
				if s == string(unconsented) {
					queue = string(DropUplink)
				}
				for _, to := range []string{string(deaf), queue} {
					if !hasPut(p, t, to, "") {
						out = append(out, fmt.Sprintf("%s begins %s without %s", t.Name, s, to))
					}
				}
				if p.Place(string(CallerAudio)) >= 0 && !hasArc(p, t, petri.ResetArc, string(CallerAudio)) {
					out = append(out, fmt.Sprintf("%s begins %s and keeps the frames that wait", t.Name, s))
				}
			}
		}
		return out
	})
}

// forgotten says that the firing which withdraws consent empties every place
// whose colour is what a caller said, typed or pressed, forgets the handle of
// what the model remembers, and has the connection replaced.
func forgotten() *verify.Property {
	return ofProgram("V8-forgotten", "The firing that withdraws consent drops all that is kept of what the caller "+
		"said, typed or pressed, "+
		"and closes the connection that remembers it.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			if !hasPut(p, t, string(unconsented), "") {
				continue
			}
			for i := range p.Places() {
				place := &p.Places()[i]
				of := slices.Contains(callersColours, place.Type) && !place.Out || place.Name == string(lastHandle)
				if of && !hasArc(p, t, petri.ResetArc, place.Name) && !hasTake(p, t, place.Name) &&
					!hasArc(p, t, petri.InhibitArc, place.Name) {
					out = append(out, fmt.Sprintf("%s keeps what is in %s", t.Name, place.Name))
				}
			}
			if !hasPut(p, t, string(renewal), "") {
				out = append(out, t.Name+" leaves the connection as it is")
			}
			if !turns(p, t, string(unasked)) {
				out = append(out, t.Name+" does not have the caller asked again")
			}
		}
		if p.Place(string(unconsented)) >= 0 && !renews(p) {
			out = append(out, "nothing closes a connection that is to be replaced")
		}
		return out
	})
}

// renews reports whether a connection that is to be replaced is closed.
func renews(p *petri.Program) bool {
	return slices.ContainsFunc(p.Transitions(), func(t petri.TransitionInfo) bool {
		return hasTake(p, t, string(renewal)) && hasTake(p, t, string(online)) && hasPut(p, t, string(CloseLink), "")
	})
}

// callersColours are the colours of what a caller said, typed or pressed.
var callersColours = []string{typeOf[*CallerFrame](), typeOf[*CallerTurn](), typeOf[*Typed](), typeOf[*Digits]()}

func typeOf[T any]() string { return fmt.Sprintf("%T", *new(T)) }
