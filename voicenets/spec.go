package voicenets

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// Places of the watcher, which follows what a session puts out.
const (
	seenIdle    petri.Place[petri.Unit] = "seen_idle"    // no reply, as the peer was told
	seenPlaying petri.Place[petri.Unit] = "seen_playing" // a reply is playing
	seenPaused  petri.Place[petri.Unit] = "seen_paused"  // it is paused
	seenAudio   petri.Place[petri.Unit] = "seen_audio"   // the peer has audio that was neither played nor cleared
	seenMark    petri.Place[petri.Unit] = "seen_mark"    // the end of the reply was marked
	seenSpeech  petri.Place[petri.Unit] = "seen_speech"  // the peer was told of speech
	seenQuiet   petri.Place[petri.Unit] = "seen_quiet"   // and of its end
	seenTurn    petri.Place[petri.Unit] = "seen_turn"    // the model was told of an activity
	seenNoTurn  petri.Place[petri.Unit] = "seen_no_turn" // and of its end
	broken      petri.Place[petri.Unit] = "broken"       // what was put out makes no sense
)

// watcher is an automaton that only listens: it knows what a peer and a model
// know from what they were sent, and marks broken when that makes no sense (a
// reply that resumes but was not paused, an activity that ends twice). With it
// a property can speak of what leaves the session.
func watcher(c Config) *petri.Net {
	n := &petri.Net{
		Name:  "watcher",
		Ports: []petri.AnyPlace{TellReply, TellSpeech, AudioDown, Mark},
		Init:  []petri.Token{seenIdle.Token(petri.Unit{}), seenQuiet.Token(petri.Unit{})},
	}
	see := func(name string, what petri.Arc, from, to petri.Place[petri.Unit], reset ...petri.AnyArc) {
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: name, In: petri.Arcs{what, from}, Reset: reset, Out: petri.And(to)},
			petri.Transition{Name: "wrong_" + name, In: petri.Arcs{what}, Inhibit: petri.Arcs{from}, Reset: petri.Arcs{broken},
				Out: petri.And(broken)})
	}
	see("started", TellReply.Is(ReplyStarted), seenIdle, seenPlaying, seenMark)
	see("complete", TellReply.Is(ReplyComplete), seenPlaying, seenIdle, seenAudio)
	see("heard", TellSpeech.Is(SpeechHeard), seenQuiet, seenSpeech)
	see("over", TellSpeech.Is(SpeechOver), seenSpeech, seenQuiet)
	n.Transitions = append(n.Transitions,
		petri.Transition{Name: "audio", In: petri.Arcs{AudioDown.Fresh()}, Read: petri.Arcs{seenPlaying},
			Reset: petri.Arcs{seenAudio}, Out: petri.And(seenAudio)},
		petri.Transition{Name: "wrong_audio", In: petri.Arcs{AudioDown}, Inhibit: petri.Arcs{seenPlaying},
			Reset: petri.Arcs{broken}, Out: petri.And(broken)},
		petri.Transition{Name: "mark", In: petri.Arcs{Mark}, Read: petri.Arcs{seenPlaying}, Inhibit: petri.Arcs{seenMark},
			Out: petri.And(seenMark)},
		petri.Transition{Name: "wrong_mark", In: petri.Arcs{Mark}, Inhibit: petri.Arcs{seenPlaying},
			Reset: petri.Arcs{broken}, Out: petri.And(broken)},
		petri.Transition{Name: "mark_again", In: petri.Arcs{Mark}, Read: petri.Arcs{seenMark},
			Reset: petri.Arcs{broken}, Out: petri.And(broken)})
	if hasPause(c) {
		see("paused", TellReply.Is(ReplyPaused), seenPlaying, seenPaused, seenMark)
		see("resumed", TellReply.Is(ReplyResumed), seenPaused, seenPlaying)
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "cut_paused", In: petri.Arcs{TellReply.Is(ReplyCut), seenPaused}, Out: petri.And(seenIdle)})
	}
	if hasClear(c) {
		n.Ports = append(n.Ports, Clear)
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "cut", In: petri.Arcs{TellReply.Is(ReplyCut), seenPlaying}, Out: petri.And(seenIdle)},
			petri.Transition{Name: "wrong_cut", In: petri.Arcs{TellReply.Is(ReplyCut)}, Read: petri.Arcs{seenIdle},
				Reset: petri.Arcs{broken}, Out: petri.And(broken)},
			petri.Transition{Name: "clear", In: petri.Arcs{Clear}, Reset: petri.Arcs{seenAudio, seenMark}})
	}
	if c.Detection == Manual {
		n.Ports = append(n.Ports, ToModel)
		n.Init = append(n.Init, seenNoTurn.Token(petri.Unit{}))
		see("activity", ToModel.Is(ActivityStart), seenNoTurn, seenTurn)
		see("activity_end", ToModel.Is(ActivityEnd), seenTurn, seenNoTurn)
		if c.Greeting {
			n.Transitions = append(n.Transitions, petri.Transition{Name: "greet", In: petri.Arcs{ToModel.Is(Greet)}})
		}
	}
	for i := range n.Transitions { // it listens as the session speaks, not after
		n.Transitions[i].Priority = 1 + len(n.Transitions) - i
	}
	return n
}

// hasPause says that a session may pause a reply, hasClear that it may tell
// the peer to drop what was not played.
func hasPause(c Config) bool { return !c.HalfDuplex }
func hasClear(c Config) bool { return !c.HalfDuplex || c.Detection == Server }

// Protocol are the properties of what leaves a session, which the watcher in
// Hostile follows: the peer and the model are told what is so, in an order that
// makes sense.
func Protocol(c Config) []*verify.Property {
	var list []*verify.Property
	add := func(name, text, doc string) {
		p := verify.Never(text)
		p.Name, p.Doc = name, doc
		list = append(list, p)
	}
	add("told-in-order", "broken", "What the peer and the model are told comes in an order that makes sense.")
	add("told-of-speech", "!ended && (speaking && !seen_speech || quiet && !seen_quiet)",
		"The peer knows whether the caller is heard to speak.")
	add("told-of-mark", "!ended && end_marked && !seen_mark", "The end of a reply is marked on the wire.")
	if hasPause(c) {
		add("told-of-pause", "!ended && (confirming && !seen_paused || !confirming && seen_paused)",
			"The peer knows whether the reply is paused.")
		add("V4-clear", "!ended && seen_paused && seen_audio", "A paused reply is cleared at the peer.")
	}
	add("told-of-reply", "!ended && (replying && seen_idle || !replying && !seen_idle)",
		"The peer knows whether a reply is being played.")
	add("V3-clear", "!ended && seen_idle && seen_audio", "No audio of a reply that is over is left at the peer.")
	if c.Detection == Manual {
		add("told-of-turn", "!ended && (in_turn && !seen_turn || !in_turn && seen_turn)",
			"The model knows whether the caller has the turn.")
	}
	return list
}
