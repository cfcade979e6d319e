package voicenets

import (
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/verify"
)

// claim is a state that must not be reached, with the slice that tells.
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
func stateClaims(c Config) []claim {
	late, given, firmly := "discarding && reply_audio", "", ""
	if c.firmly() {
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
		{"cut-reply", "cut_short && !replying && !ended",
			"A reply that was cut short ends as one, or gives way to the caller."},
		{"V10-pause", c.paused() + " >= 1 && unacked",
			"While a reply is paused nothing of it is handed over."},
		{"V10-resume", fmt.Sprintf("unplayed && %s == 0 && unacked < %d && !ended", c.paused(), c.Budget()),
			"A reply that resumes goes on with what the pause took back."},
	}
	if c.manual() {
		list = append(list,
			claim{"talked-over", "in_turn && (replying || reply_audio)",
				"The model is not heard while the caller has the turn."},
			claim{"unheard", "unheard && !replying && !owing && !model_turn && !ended" + firmly,
				"Speech waits for a turn only while a reply is owed or played, or comes that must be heard."},
			claim{"unheard-certain", "unheard[certain] && !replying && !ended" + firmly,
				"Certain speech waits only while a reply is played, or comes that must be heard."},
			claim{"V6-in-turn", "in_turn && owing",
				"A turn that waits for its reply gives way to speech that is certain alone."})
	}
	if c.pauses() {
		list = append(list, pauseClaim(c))
	}
	return list
}

// pauseClaim is about pauses.
func pauseClaim(c Config) claim {
	turn := ""
	if c.manual() {
		turn = " || in_turn"
	}
	return claim{"V10-activity", "confirming && (!replying || parked" + turn + ")",
		"A pause is one of a reply, and nothing goes to the model before an interruption is confirmed."}
}

// paused are the reasons for which a reply is paused.
func (c Config) paused() string {
	if c.pauses() {
		return "confirming + parked"
	}
	return "parked"
}

// firmly says whether a reply must be heard to its end.
func (c Config) firmly() bool {
	return c.Greeting && c.GreetingFirm || c.Prompts.Has(AskConsent) || c.Prompts.Has(Notify)
}

// toldClaims are about what leaves a session, which the watcher in Hostile
// follows: the peer and the model are told what is so, in an order that makes
// sense.
func toldClaims(c Config) []claim {
	list := []claim{
		{"told-in-order", "broken",
			"What the peer and the model are told comes in an order that makes sense."},
		{"told-of-speech", "!ended && (speaking && !seen_speech || quiet && !seen_quiet)",
			"The peer knows whether the caller is heard to speak."},
		{"told-of-mark", "!ended && end_marked && !seen_mark",
			"The end of a reply is marked on the wire."},
		{"told-of-pause", "!ended && replying && (" + c.paused() + " >= 1 && !seen_paused || " +
			c.paused() + " == 0 && seen_paused)",
			"The peer knows whether the reply is paused."},
		{"V4-clear", "!ended && seen_paused && seen_audio",
			"A paused reply is cleared at the peer."},
		{"told-of-reply", "!ended && (replying && seen_idle || !replying && !seen_idle)",
			"The peer knows whether a reply is being played."},
		{"V3-clear", "!ended && seen_idle && seen_audio",
			"No audio of a reply that is over is left at the peer."},
	}
	if c.Prompts != 0 {
		list = append(list, claim{"told-of-prompt", "prompting && !seen_prompt && !ended",
			"A prompt is asked for when one is to be given."})
	}
	if c.manual() {
		list = append(list, claim{"told-of-turn", "!ended && (in_turn && !seen_turn || !in_turn && seen_turn)",
			"The model knows whether the caller has the turn."})
	}
	return list
}

// Properties are the claims of Proofs that speak of the session alone, not of
// automata of its environment: they hold of every marking at which a session
// rests, so that a monitor can watch them. There are none of a configuration
// that is wrong; Session says how.
func Properties(c Config) []*verify.Property {
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
			if !strings.Contains(p.Expr, "seen_") && !strings.Contains(p.Expr, string(broken)) &&
				!strings.Contains(p.Expr, string(unsound)) && !strings.Contains(p.Expr, string(mislinked)) {
				list = append(list, p)
			}
		}
	}
	return list
}
