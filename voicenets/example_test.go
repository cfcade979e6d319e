package voicenets_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/petritest"
	"github.com/voicegw/voicegw/voicenets"
	"github.com/voicegw/voicegw/voicenets/prove"
)

// ownTranscript shows what the caller said, and nothing of what the model says.
func ownTranscript(voicenets.Config) *petri.Net {
	return &petri.Net{
		Name:  "transcript",
		Ports: []petri.AnyPlace{voicenets.Transcript, voicenets.Show},
		Env:   []petri.Env{{Place: voicenets.Transcript, Capacity: 64, Policy: petri.DropOldest}},
		Out:   []petri.Output{{Place: voicenets.Show}},
		Transitions: []petri.Transition{
			{Name: "show_caller", In: petri.Arcs{voicenets.Transcript.Is(voicenets.Caller)},
				Out: petri.And(voicenets.Show.Passing(voicenets.Transcript))},
			{Name: "keep_from_peer", In: petri.Arcs{voicenets.Transcript.Is(voicenets.Model)}},
		},
	}
}

// A part of a session is replaced by one's own, and another one left out. What
// is then composed is proved like any other session.
func Example_ownPart() {
	c := voicenets.Config{Parts: map[voicenets.Part]func(voicenets.Config) *petri.Net{
		voicenets.PartTranscript: ownTranscript,
		voicenets.PartDigits:     nil, // no keys of a phone
	}}
	proofs, err := prove.Sessions(context.Background(), nil, c)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := voicenets.PartsOf(c)
	fmt.Println(parts, err)
	fmt.Println(proofs[0].Source, len(proofs[0].Claims) > 30)
	// Output:
	// [speech turns text context uplink model playout transcript input_gate prompts model_silence link call] <nil>
	// proved now true
}

// TestOwnTranscript: a part of one's own is tested alone, by a script.
func TestOwnTranscript(t *testing.T) {
	petritest.RunPart(t, "testdata/own_transcript", ownTranscript(voicenets.Config{}))
}

// eagerUplink sends every frame of an open turn up, and does not ask whether
// anybody may hear it.
func eagerUplink(voicenets.Config) *petri.Net {
	return &petri.Net{
		Name:  "uplink",
		Ports: []petri.AnyPlace{voicenets.CallerAudio, voicenets.AudioUp, voicenets.InTurn, voicenets.Online},
		Env:   []petri.Env{{Place: voicenets.CallerAudio, Capacity: 60, Policy: petri.DropOldest}},
		Out:   []petri.Output{{Place: voicenets.AudioUp}},
		Transitions: []petri.Transition{
			{Name: "send_frame_up", In: petri.Arcs{voicenets.CallerAudio},
				Read: petri.Arcs{voicenets.InTurn, voicenets.Online},
				Out:  petri.And(voicenets.AudioUp)},
		},
	}
}

// A part that breaks a claim is refused, with the claim and a story that breaks
// it.
func Example_refusedPart() {
	_, err := prove.Sessions(context.Background(), nil, voicenets.Config{
		Parts: map[voicenets.Part]func(voicenets.Config) *petri.Net{voicenets.PartUplink: eagerUplink},
	})
	refusal, story, _ := strings.Cut(err.Error(), "\n")
	_, refusal, _ = strings.Cut(refusal, "claims: prove the session: ")
	claim, verdict, _ := strings.Cut(refusal, " (")
	_, verdict, _ = strings.Cut(verdict, ") ")
	verdict, _, _ = strings.Cut(verdict, ":")
	fmt.Println(claim, verdict)
	fmt.Println(story)
	// Output:
	// V8-uplink is unknown
	// start: empty
	//   1 caller/peer_mute_on: peer_mute[on]
	//   2 session/input_gate/mute: input_closed session/input_gate/muted
	//   3 session/turns/start_turn*: input_closed in_turn session/input_gate/muted
	//   4 session/link/connect*: input_closed in_turn online session/input_gate/muted
}
