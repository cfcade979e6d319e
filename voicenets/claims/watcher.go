package claims

import (
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// Places of the watcher, which follows the outputs of a session.
const (
	seenIdle    petri.Place[petri.Unit] = "seen_idle"    // no reply, as the peer was notified
	seenPlaying petri.Place[petri.Unit] = "seen_playing" // a reply is playing
	seenPaused  petri.Place[petri.Unit] = "seen_paused"  // it is paused
	seenPrompt  petri.Place[petri.Unit] = "seen_prompt"  // the reply is a prompt of the gateway
	seenAudio   petri.Place[petri.Unit] = "seen_audio"   // the peer has audio that is neither played nor cleared
	seenMark    petri.Place[petri.Unit] = "seen_mark"    // the end of the reply was marked
	seenSpeech  petri.Place[petri.Unit] = "seen_speech"  // the peer was notified of speech
	seenQuiet   petri.Place[petri.Unit] = "seen_quiet"   // the peer was notified of its end, or of no speech yet
	seenTurn    petri.Place[petri.Unit] = "seen_turn"    // the model was sent an activity start
	seenNoTurn  petri.Place[petri.Unit] = "seen_no_turn" // the model was sent its end, or no start yet
	broken      petri.Place[petri.Unit] = "broken"       // the outputs contradict each other
)

// watch builds the watcher.
type watch struct {
	n      *petri.Net
	level  int                     // the priority of the next transition
	broken petri.Place[petri.Unit] // the place to mark when outputs contradict each other
}

// see adds a reaction of the watcher to an output.
func (w *watch) see(name string, in petri.Arcs, reset petri.Arcs, out ...petri.AnyArc) {
	w.level--
	w.n.Transitions = append(w.n.Transitions,
		petri.Transition{Name: name, In: in, Reset: reset, Out: petri.And(out...), Priority: w.level})
}

// mark adds a reaction that marks a place, once.
func (w *watch) mark(name string, in petri.Arcs, read petri.AnyArc, place petri.Place[petri.Unit]) {
	w.see(name, in, petri.Arcs{place}, place)
	w.n.Transitions[len(w.n.Transitions)-1].Read = petri.Arcs{read}
}

// wrong adds that an output in any other state is a contradiction.
func (w *watch) wrong(name string, what petri.AnyArc) {
	w.see("wrong_"+name, petri.Arcs{what}, petri.Arcs{w.broken}, w.broken)
}

// turn adds an output that is right in one state only and leads to another state.
func (w *watch) turn(name string, what petri.AnyArc, from, to petri.Place[petri.Unit], reset ...petri.AnyArc) {
	w.see(name, petri.Arcs{what, from}, reset, to)
	w.wrong(name, what)
}

// watcher is an automaton that only listens. It knows what the peer and the model know from what
// they were sent, and marks broken when outputs contradict each other (a reply resumes that was not
// paused, an activity ends twice). With it a property can state what leaves the session. It sees
// each output before anything else fires.
func watcher(c voicenets.Config) *petri.Net {
	w := &watch{level: 200, broken: broken, n: &petri.Net{
		Name: "watcher",
		Ports: []petri.AnyPlace{voicenets.NotifyReply, voicenets.NotifySpeech, voicenets.AudioDown, voicenets.Mark,
			voicenets.Clear},
		Init: []petri.Token{seenIdle.Token(petri.Unit{}), seenQuiet.Token(petri.Unit{})},
		Caps: caps(1, seenAudio, seenMark, broken),
	}}
	var prompt petri.Arcs // the end of a reply is the end of a prompt, too
	if c.Prompts != 0 {
		prompt = petri.Arcs{seenPrompt}
	}
	w.see("clear", petri.Arcs{voicenets.Clear}, petri.Arcs{seenAudio, seenMark})
	w.turn("started", voicenets.NotifyReply.Is(voicenets.ReplyStarted), seenIdle, seenPlaying)
	w.turn("paused", voicenets.NotifyReply.Is(voicenets.ReplyPaused), seenPlaying, seenPaused, seenMark)
	w.turn("resumed", voicenets.NotifyReply.Is(voicenets.ReplyResumed), seenPaused, seenPlaying)
	w.see("cut_paused", petri.Arcs{voicenets.NotifyReply.Is(voicenets.ReplyCut), seenPaused}, prompt, seenIdle)
	w.turn("cut", voicenets.NotifyReply.Is(voicenets.ReplyCut), seenPlaying, seenIdle, prompt...)
	played := append(petri.Arcs{seenAudio, seenMark}, prompt...)
	w.turn("complete", voicenets.NotifyReply.Is(voicenets.ReplyComplete), seenPlaying, seenIdle, played...)
	w.turn("lost_reply", voicenets.NotifyReply.Is(voicenets.ReplyLost), seenPlaying, seenIdle, played...)
	w.turn("heard", voicenets.NotifySpeech.Is(voicenets.SpeechHeard), seenQuiet, seenSpeech)
	w.turn("over", voicenets.NotifySpeech.Is(voicenets.SpeechOver), seenSpeech, seenQuiet)
	w.mark("audio", petri.Arcs{voicenets.AudioDown.Fresh()}, seenPlaying, seenAudio)
	w.wrong("audio", voicenets.AudioDown)
	w.see("mark_again", petri.Arcs{voicenets.Mark, seenMark}, petri.Arcs{broken}, broken)
	w.mark("mark", petri.Arcs{voicenets.Mark}, seenPlaying, seenMark)
	w.wrong("mark", voicenets.Mark)
	if c.Prompts != 0 {
		w.n.Ports = append(w.n.Ports, voicenets.PlayPrompt)
		w.n.Caps = append(w.n.Caps, caps(1, seenPrompt)...)
		w.mark("prompt", petri.Arcs{voicenets.PlayPrompt}, seenPlaying, seenPrompt)
		w.wrong("prompt", voicenets.PlayPrompt)
	}
	if gatewayVAD(c) {
		w.n.Ports = append(w.n.Ports, voicenets.ToModel)
		w.n.Init = append(w.n.Init, seenNoTurn.Token(petri.Unit{}))
		w.turn("activity", voicenets.ToModel.Is(voicenets.ActivityStart), seenNoTurn, seenTurn)
		w.turn("activity_end", voicenets.ToModel.Is(voicenets.ActivityEnd), seenTurn, seenNoTurn)
		w.see("other_command", petri.Arcs{voicenets.ToModel.Is(voicenets.Greet, voicenets.Nudge)}, nil)
	}
	return w.n
}
