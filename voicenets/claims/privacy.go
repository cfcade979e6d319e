package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/voicenets"
)

// private lists the properties of V8 that the structure of a session decides: by which transitions
// the caller's input leaves, where it is kept, and what closes the input gate. Proofs has the
// claims about markings.
func (s scope) private() []*verify.Property {
	with := func(places ...petri.AnyPlace) []petri.AnyPlace { return append(places, closedStates...) }
	return []*verify.Property{
		s.selects(captured(), nil, voicenets.CallerAudio, voicenets.InputClosed),
		s.selects(leaves(), nil, with(voicenets.TextUp, voicenets.NoteUp, voicenets.TurnAgain, voicenets.AudioUp,
			voicenets.InputClosed, voicenets.Dial, voicenets.ConnectedBefore, voicenets.LastHandle)...),
		s.selects(taken(), nil, with(voicenets.CallerText, voicenets.Note, voicenets.Request, voicenets.TextLost)...),
		s.selects(keys(), nil, with(voicenets.CallerDigit, voicenets.Entry, voicenets.EntryComplete,
			voicenets.EntryProtected, voicenets.Collected)...),
		s.selects(closing(), nil, with(voicenets.InputClosed, voicenets.CallerAudio, voicenets.HoldUplink,
			voicenets.DropUplink)...),
		s.selects(forgotten(), nil, voicenets.Unconsented, voicenets.LastHandle, voicenets.Renewal, voicenets.Online,
			voicenets.CloseLink, voicenets.ConsentDue),
	}
}

// closedStates are the states in which no caller input may leave. A mute is not among them, because
// it silences only the audio input.
var closedStates = []petri.AnyPlace{voicenets.Held, voicenets.Protected, voicenets.Unconsented}

// unlessClosed lists the closed states in which a transition may fire. A session that lacks a state
// is never in it.
func unlessClosed(p *petri.Program, t petri.TransitionInfo) (open []string) {
	for _, state := range closedStates {
		if s := state.String(); p.Place(s) >= 0 && !hasArc(p, t, petri.InhibitArc, s) {
			open = append(open, s)
		}
	}
	return open
}

// leaves claims by which ways caller input leaves for the model: frames while the input gate is
// open; text and repeated turns while no closed state holds; and the conversation that a dial must
// send when it has no handle.
func leaves() *verify.Property {
	return ofProgram("V8-leaves", "Text, notes, repeated turns and the conversation that a dial sends do not "+
		"leave on hold, during protected input or without consent.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			open := unlessClosed(p, t)
			for _, to := range []string{string(voicenets.TextUp), string(voicenets.NoteUp),
				string(voicenets.TurnAgain)} {
				if hasPut(p, t, to, "") && len(open) > 0 {
					out = append(out, fmt.Sprintf("%s puts out %s while %s", t.Name, to, strings.Join(open, " or ")))
				}
			}
			if hasPut(p, t, string(voicenets.AudioUp), "") && !hasArc(p, t, petri.InhibitArc, string(voicenets.InputClosed)) {
				out = append(out, t.Name+" puts out audio_up while the input gate is closed")
			}
			first := slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
				return a.Kind == petri.InhibitArc && a.Count == 1 &&
					lastPart(p.Places()[a.Place].Name) == string(voicenets.ConnectedBefore)
			})
			resumes := hasArc(p, t, petri.ReadArc, string(voicenets.LastHandle))
			open = slices.DeleteFunc(open,
				func(s string) bool { return s == string(voicenets.Unconsented) }) // withdrawal of consent leaves nothing to send
			if hasPut(p, t, string(voicenets.Dial), "") && !first && !resumes && len(open) > 0 {
				out = append(out, fmt.Sprintf("%s dials while %s, and must send the conversation", t.Name,
					strings.Join(open, " or ")))
			}
		}
		return out
	})
}

// captured claims that frames which arrive while the input gate is closed are dropped: one
// transition drops them, and no other takes any.
func captured() *verify.Property {
	return ofProgram("V8-captured", "Audio that comes while the input gate is closed is dropped.",
		func(p *petri.Program) []string {
			var out []string
			drops := p.Place(string(voicenets.CallerAudio)) < 0
			for _, t := range p.Transitions() {
				switch {
				case !hasTake(p, t, string(voicenets.CallerAudio)):
				case hasArc(p, t, petri.ReadArc, string(voicenets.InputClosed)) && len(t.Arcs) == 2:
					drops = true
				case !hasArc(p, t, petri.InhibitArc, string(voicenets.InputClosed)):
					out = append(out, t.Name+" keeps or sends a frame while the input gate is closed")
				}
			}
			if !drops {
				out = append(out, "nothing drops the frames that come while the input gate is closed")
			}
			return out
		})
}

// taken claims that text which arrives in a closed state is dropped.
func taken() *verify.Property {
	return ofProgram("V8-text", "Text that comes on hold, during protected input or without consent is dropped, "+
		"and reported lost.",
		func(p *petri.Program) []string {
			var out []string
			for _, t := range p.Transitions() {
				if !incoming(p, t) || hasPut(p, t, string(voicenets.TextLost), "") {
					continue
				}
				if open := unlessClosed(p, t); len(open) > 0 {
					out = append(out, fmt.Sprintf("%s keeps text while %s", t.Name, strings.Join(open, " or ")))
				}
			}
			return out
		})
}

// incoming holds for a transition that takes text which has just come.
var incoming = takes(string(voicenets.CallerText), string(voicenets.Note), string(voicenets.Request))

// keys claims where phone keys go: during protected input to the host only; in the other closed
// states they are dropped.
func keys() *verify.Property {
	return ofProgram("V8-keys", "Keys that are pressed during protected input go to the host alone; on hold and "+
		"without consent "+
		"they are dropped.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			alone := hasArc(p, t, petri.ReadArc, string(voicenets.Protected))
			keeps := hasPut(p, t, string(voicenets.Entry), "") || hasPut(p, t, string(voicenets.EntryComplete), "")
			switch open := unlessClosed(p, t); {
			case hasTake(p, t, string(voicenets.CallerDigit)) && keeps && !alone && len(open) > 0:
				out = append(out, fmt.Sprintf("%s keeps a key while %s", t.Name, strings.Join(open, " or ")))
			case turns(p, t, string(voicenets.EntryProtected)) && !hasArc(p, t, petri.ResetArc, string(voicenets.Entry)):
				out = append(out, t.Name+" keeps digits of an entry that began before protected input or during it")
			case hasPut(p, t, string(voicenets.Collected), "") && !alone:
				out = append(out, t.Name+" gives the host digits that are not protected")
			case hasTake(p, t, string(voicenets.EntryComplete)) && !alone &&
				!hasArc(p, t, petri.InhibitArc, string(voicenets.Protected)):
				out = append(out, t.Name+" types digits that are protected")
			}
		}
		return out
	})
}

// turns reports whether a transition takes or puts a token of a place, by the last part of the
// place's name.
func turns(p *petri.Program, t petri.TransitionInfo, place string) bool {
	return slices.ContainsFunc(t.Arcs, func(a petri.ArcInfo) bool {
		return (a.Kind == petri.InArc || a.Kind == petri.OutArc) && lastPart(p.Places()[a.Place].Name) == place
	})
}

// closing claims what a firing that begins a closed state does: it closes the input gate, drops the
// waiting frames, and holds the queue behind the net.
func closing() *verify.Property {
	return ofProgram("V8-closing", "The firing that begins a hold, protected input or the time without consent "+
		"closes the input gate, drops "+
		"the frames that wait and holds or empties the queue to the model.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			for _, state := range closedStates {
				s := state.String()
				if !hasPut(p, t, s, "") {
					continue
				}
				queue := string(voicenets.HoldUplink)
				if s == string(voicenets.Unconsented) {
					queue = string(voicenets.DropUplink)
				}
				for _, to := range []string{string(voicenets.InputClosed), queue} {
					if !hasPut(p, t, to, "") {
						out = append(out, fmt.Sprintf("%s begins %s without %s", t.Name, s, to))
					}
				}
				if p.Place(string(voicenets.CallerAudio)) >= 0 && !hasArc(p, t, petri.ResetArc, string(voicenets.CallerAudio)) {
					out = append(out, fmt.Sprintf("%s begins %s and keeps the frames that wait", t.Name, s))
				}
			}
		}
		return out
	})
}

// forgotten claims that the firing which withdraws consent empties every place that keeps what the
// caller said, typed or pressed, forgets the handle of the model's memory, and has the connection
// replaced.
func forgotten() *verify.Property {
	return ofProgram("V8-forgotten", "The firing that withdraws consent drops all that is kept of what the caller "+
		"said, typed or pressed, "+
		"and closes the connection whose model remembers it.", func(p *petri.Program) []string {
		var out []string
		for _, t := range p.Transitions() {
			if !hasPut(p, t, string(voicenets.Unconsented), "") {
				continue
			}
			for i := range p.Places() {
				place := &p.Places()[i]
				of := slices.Contains(callersColours, place.Type) && !place.Out || place.Name == string(voicenets.LastHandle)
				if of && !hasArc(p, t, petri.ResetArc, place.Name) && !hasTake(p, t, place.Name) &&
					!hasArc(p, t, petri.InhibitArc, place.Name) {
					out = append(out, fmt.Sprintf("%s keeps what is in %s", t.Name, place.Name))
				}
			}
			if !hasPut(p, t, string(voicenets.Renewal), "") {
				out = append(out, t.Name+" leaves the connection as it is")
			}
			if !turns(p, t, string(voicenets.ConsentDue)) {
				out = append(out, t.Name+" does not have the caller asked again")
			}
		}
		if p.Place(string(voicenets.Unconsented)) >= 0 && !renews(p) {
			out = append(out, "nothing closes a connection that is to be replaced")
		}
		return out
	})
}

// renews reports whether a connection that must be replaced is closed.
func renews(p *petri.Program) bool {
	return slices.ContainsFunc(p.Transitions(), func(t petri.TransitionInfo) bool {
		return hasTake(p, t, string(voicenets.Renewal)) && hasTake(p, t, string(voicenets.Online)) &&
			hasPut(p, t, string(voicenets.CloseLink), "")
	})
}

// callersColours are the colours of what a caller said, typed or pressed.
var callersColours = []string{typeOf[*voicenets.CallerFrame](), typeOf[*voicenets.CallerTurn](),
	typeOf[*voicenets.Typed](), typeOf[*voicenets.Digits]()}

func typeOf[T any]() string { return fmt.Sprintf("%T", *new(T)) }
