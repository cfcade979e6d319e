package voicenets

import "github.com/voicegw/voicegw/petri"

// Places of the watcher, which follows what a session puts out.
const (
	seenIdle    petri.Place[petri.Unit] = "seen_idle"    // no reply, as the peer was told
	seenPlaying petri.Place[petri.Unit] = "seen_playing" // a reply is playing
	seenPaused  petri.Place[petri.Unit] = "seen_paused"  // it is paused
	seenPrompt  petri.Place[petri.Unit] = "seen_prompt"  // it is a prompt of ours
	seenAudio   petri.Place[petri.Unit] = "seen_audio"   // the peer has audio that was neither played nor cleared
	seenMark    petri.Place[petri.Unit] = "seen_mark"    // the end of the reply was marked
	seenSpeech  petri.Place[petri.Unit] = "seen_speech"  // the peer was told of speech
	seenQuiet   petri.Place[petri.Unit] = "seen_quiet"   // and of its end
	seenTurn    petri.Place[petri.Unit] = "seen_turn"    // the model was told of an activity
	seenNoTurn  petri.Place[petri.Unit] = "seen_no_turn" // and of its end
	broken      petri.Place[petri.Unit] = "broken"       // what was put out makes no sense
)

// watch builds the watcher.
type watch struct {
	n      *petri.Net
	level  int                     // the priority of what is added next
	broken petri.Place[petri.Unit] // marked by what makes no sense
}

// see adds what the watcher makes of something that it sees.
func (w *watch) see(name string, in petri.Arcs, reset petri.Arcs, out ...petri.AnyArc) {
	w.level--
	w.n.Transitions = append(w.n.Transitions,
		petri.Transition{Name: name, In: in, Reset: reset, Out: petri.And(out...), Priority: w.level})
}

// mark adds that the watcher marks a place, once.
func (w *watch) mark(name string, in petri.Arcs, read petri.AnyArc, place petri.Place[petri.Unit]) {
	w.see(name, in, petri.Arcs{place}, place)
	w.n.Transitions[len(w.n.Transitions)-1].Read = petri.Arcs{read}
}

// wrong adds that something that is seen otherwise makes no sense.
func (w *watch) wrong(name string, what petri.AnyArc) {
	w.see("wrong_"+name, petri.Arcs{what}, petri.Arcs{w.broken}, w.broken)
}

// turn adds what is seen in one state alone and leads to another.
func (w *watch) turn(name string, what petri.AnyArc, from, to petri.Place[petri.Unit], reset ...petri.AnyArc) {
	w.see(name, petri.Arcs{what, from}, reset, to)
	w.wrong(name, what)
}

// watcher is an automaton that only listens: it knows what a peer and a model
// know from what they were sent, and marks broken when that makes no sense (a
// reply that resumes but was not paused, an activity that ends twice). With it
// a property can speak of what leaves the session. It listens as the session
// speaks, before anything else fires.
func watcher(c Config) *petri.Net {
	w := &watch{level: 200, broken: broken, n: &petri.Net{
		Name:  "watcher",
		Ports: []petri.AnyPlace{TellReply, TellSpeech, AudioDown, Mark, Clear},
		Init:  []petri.Token{seenIdle.Token(petri.Unit{}), seenQuiet.Token(petri.Unit{})},
		Caps:  caps(1, seenAudio, seenMark, broken),
	}}
	w.see("clear", petri.Arcs{Clear}, petri.Arcs{seenAudio, seenMark})
	w.turn("started", TellReply.Is(ReplyStarted), seenIdle, seenPlaying)
	w.turn("paused", TellReply.Is(ReplyPaused), seenPlaying, seenPaused, seenMark)
	w.turn("resumed", TellReply.Is(ReplyResumed), seenPaused, seenPlaying)
	if c.cuts() {
		w.see("cut_paused", petri.Arcs{TellReply.Is(ReplyCut), seenPaused}, nil, seenIdle)
		w.turn("cut", TellReply.Is(ReplyCut), seenPlaying, seenIdle)
	}
	w.turn("complete", TellReply.Is(ReplyComplete), seenPlaying, seenIdle, seenAudio, seenMark)
	w.turn("lost_reply", TellReply.Is(ReplyLost), seenPlaying, seenIdle, seenAudio, seenMark)
	w.turn("heard", TellSpeech.Is(SpeechHeard), seenQuiet, seenSpeech)
	w.turn("over", TellSpeech.Is(SpeechOver), seenSpeech, seenQuiet)
	w.mark("audio", petri.Arcs{AudioDown.Fresh()}, seenPlaying, seenAudio)
	w.wrong("audio", AudioDown)
	w.see("mark_again", petri.Arcs{Mark, seenMark}, petri.Arcs{broken}, broken)
	w.mark("mark", petri.Arcs{Mark}, seenPlaying, seenMark)
	w.wrong("mark", Mark)
	if c.Prompts != 0 {
		w.n.Ports = append(w.n.Ports, PlayPrompt)
		w.n.Caps = append(w.n.Caps, caps(1, seenPrompt)...)
		w.mark("prompt", petri.Arcs{PlayPrompt}, seenPlaying, seenPrompt)
		w.wrong("prompt", PlayPrompt)
		for i := range w.n.Transitions {
			if t := &w.n.Transitions[i]; t.Name == "cut" || t.Name == "cut_paused" || t.Name == "complete" ||
				t.Name == "lost_reply" {
				t.Reset = append(t.Reset, seenPrompt)
			}
		}
	}
	if c.manual() {
		w.n.Ports = append(w.n.Ports, ToModel)
		w.n.Init = append(w.n.Init, seenNoTurn.Token(petri.Unit{}))
		w.turn("activity", ToModel.Is(ActivityStart), seenNoTurn, seenTurn)
		w.turn("activity_end", ToModel.Is(ActivityEnd), seenTurn, seenNoTurn)
		w.see("other_command", petri.Arcs{ToModel.Is(Greet, Nudge)}, nil)
	}
	return w.n
}

// cuts says that replies may be cut: by the caller's speech or text.
func (c Config) cuts() bool { return true }
