package claims

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
	vclaim "github.com/voicegw/voicegw/verify/claim"
	"github.com/voicegw/voicegw/voicenets"
)

// claim is a condition that must never hold where the session rests.
type claim struct{ name, text, doc string }

// property makes a property of a claim.
func (c claim) property() *verify.Property {
	p := verify.Never(c.text)
	p.Name, p.Doc = c.name, c.doc
	return p
}

func properties(list []claim) []*verify.Property {
	var out []*verify.Property
	for _, c := range list {
		out = append(out, c.property())
	}
	return out
}

// stateClaims are about the conversation: speech, turns, replies and playout.
func stateClaims(c voicenets.Config) []claim {
	late, given, firmly := "discarding && reply_audio", "", ""
	if hasFirm(c) {
		firmly = " && !firm"
	}
	if c.Prompts != 0 {
		late, given = late+" && !seen_prompt", " || prompting"
	}
	list := []claim{
		{"V1-speech", "quiet && speaking || !quiet && !speaking && !ended",
			"Speech is open or it is not."},
		{"V3-late-audio", late,
			"Audio of an interrupted reply is never accepted."},
		{"V4-budget", fmt.Sprintf("unacked + unplayed > %d", c.Budget()),
			"No more audio is handed over and not acknowledged than the budget."},
		{"reply-is-heard", "!replying && (unacked || unplayed || reply_audio && !parked" + given + ") && !ended",
			"Audio waits or plays only while a reply is being played."},
		{"cut-reply", "reply_cut_short && !replying && !ended",
			"A reply that was cut short ends as one, or gives way to the caller."},
		{"V10-pause", paused(c) + " >= 1 && unacked",
			"While a reply is paused nothing of it is handed over."},
		{"V10-resume", fmt.Sprintf("unplayed && %s == 0 && unacked < %d && !ended", paused(c), c.Budget()),
			"A reply that resumes goes on with what the pause took back."},
	}
	if gatewayVAD(c) {
		list = append(list,
			claim{"talked-over", "in_turn && (replying || reply_audio)",
				"No reply is played while the caller has the turn."},
			claim{"pending_speech", "pending_speech && !replying && !reply_pending && !model_turn && !ended" + firmly,
				"Speech is pending only while a reply is pending or played, or an uninterruptible one comes."},
			claim{"pending-speech-confirmed", "pending_speech[confirmed] && !replying && !ended" + firmly,
				"Confirmed speech is pending only while a reply is played, or an uninterruptible one comes."},
			claim{"V6-in-turn", "in_turn && reply_pending",
				"A turn that waits for its reply gives way to confirmed speech only."})
	}
	if pauses(c) {
		list = append(list, pauseClaim(c))
	}
	return list
}

// pauseClaim is about pauses.
func pauseClaim(c voicenets.Config) claim {
	turn := ""
	if gatewayVAD(c) {
		turn = " || in_turn"
	}
	return claim{"V10-activity", "confirming && (!replying || parked" + turn + ")",
		"A pause is one of a reply, and nothing goes to the model before an interruption is confirmed."}
}

// paused counts the reasons for which a reply is paused, as an expression.
func paused(c voicenets.Config) string {
	if pauses(c) {
		return "confirming + parked"
	}
	return "parked"
}

// hasFirm reports whether the session may have a reply that must play to its end.
func hasFirm(c voicenets.Config) bool {
	return c.Greeting && c.GreetingFirm || c.Prompts.Has(voicenets.AskConsent) || c.Prompts.Has(voicenets.Notify)
}

// outputClaims are about the outputs of a session, which the watcher in Hostile follows: what the
// session sends to the peer and the model matches its state, and comes in a consistent order.
func outputClaims(c voicenets.Config) []claim {
	list := []claim{
		{"outputs-in-order", "broken",
			"The messages to the peer and to the model come in a consistent order."},
		{"speech-reported", "!ended && (speaking && !seen_speech || quiet && !seen_quiet)",
			"The peer knows whether the caller's speech is open."},
		{"mark-reported", "!ended && end_marked && !seen_mark",
			"The end of a reply is marked on the wire."},
		{"pause-reported", "!ended && replying && (" + paused(c) + " >= 1 && !seen_paused || " +
			paused(c) + " == 0 && seen_paused)",
			"The peer knows whether the reply is paused."},
		{"V4-clear", "!ended && seen_paused && seen_audio",
			"A paused reply is cleared at the peer."},
		{"reply-reported", "!ended && (replying && seen_idle || !replying && !seen_idle)",
			"The peer knows whether a reply is being played."},
		{"V3-clear", "!ended && seen_idle && seen_audio",
			"No audio of a reply that is over is left at the peer."},
	}
	if c.Prompts != 0 {
		list = append(list, claim{"prompt-reported", "prompting && !seen_prompt && !ended",
			"A prompt is asked for when one is to be given."})
	}
	if gatewayVAD(c) {
		list = append(list, claim{"turn-reported", "!ended && (in_turn && !seen_turn || !in_turn && seen_turn)",
			"The model knows whether the caller has the turn."})
	}
	return list
}

// Properties are the claims of Proofs about the session alone, without automata of its environment.
// They hold in every marking in which a session rests, so a monitor can check them. An invalid
// configuration has none; Session returns its error.
func Properties(c voicenets.Config) []*verify.Property {
	n, err := Hostile(c)
	if err != nil {
		return nil
	}
	closed, err := petri.Compile(n)
	if err != nil {
		return nil
	}
	var list []*verify.Property
	for _, part := range Proofs(c, closed) {
		for _, p := range part.Props {
			if !slices.ContainsFunc(vclaim.Names(p.Claim), ofAutomata) {
				list = append(list, p)
			}
		}
	}
	return list
}

// ofAutomata reports whether a place belongs to an automaton around the session.
func ofAutomata(place string) bool {
	return strings.HasPrefix(place, "seen_") || place == string(broken) || place == string(unsound) ||
		place == string(mislinked)
}
