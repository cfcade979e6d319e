package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/verify"
)

// Properties are what a session of this configuration must keep, whatever its
// environment does and whenever timers fall due: they hold under Hostile, and
// so under Contract. Package verify checks them on the closed net.
func Properties(c Config) []*verify.Property {
	list := []*verify.Property{verify.DeadlockFree(), verify.WithinCapacity(string(ModelAudio))}
	for _, n := range nevers(c) {
		p := verify.Never(n.text)
		p.Name, p.Doc = n.name, n.doc
		list = append(list, p)
	}
	return list
}

// never is a state that must not be reached.
type never struct{ name, text, doc string }

func nevers(c Config) []never {
	list := []never{
		{"V1-speech", "quiet && speaking || !quiet && !speaking && !ended",
			"Speech is open or it is not."},
		{"V3-late-audio", "discarding && reply_audio",
			"Audio of an interrupted reply is never accepted."},
		{"V4-budget", fmt.Sprintf("unacked > %d", c.Budget()),
			"No more audio is handed over and not acknowledged than the budget."},
		{"V8-mute", "muted && can(send_frame_up)",
			"No caller audio goes up while the microphone is muted."},
		{"reply-is-heard", "!replying && (reply_audio || unacked) && !ended",
			"Audio waits or plays only while a reply is being played."},
	}
	if !c.HalfDuplex {
		list = append(list,
			never{"V10-pause", "confirming && (unacked || !replying)",
				"While a pause waits for its confirmation nothing is handed over."},
			never{"V10-resume", "unplayed && !confirming && !ended",
				"A reply that resumes goes on with what the pause took back."})
	} else {
		list = append(list, never{"V8-half-duplex", "replying && can(send_frame_up)",
			"The caller is not listened to while a reply is playing."})
	}
	if c.Detection == Manual {
		list = append(list,
			never{"V8-uplink", "!in_turn && can(send_frame_up)",
				"Caller audio goes up in an open turn alone."},
			never{"talked-over", "in_turn && (replying || reply_audio)",
				"The model is not heard while the caller has the turn."},
			never{"unheard", "unheard && !replying && !ended",
				"Speech waits for a turn only while a reply is playing."})
		if !c.HalfDuplex {
			list = append(list, never{"V10-activity", "confirming && in_turn",
				"Nothing goes to the model before an interruption is confirmed."})
		}
	}
	return list
}
