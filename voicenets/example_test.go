package voicenets_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/petritest"
	"github.com/voicegw/voicegw/voicenets"
)

// ownWords shows what the caller said, and nothing of what the model says.
func ownWords(voicenets.Config) *petri.Net {
	return &petri.Net{
		Name:  "words",
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
		voicenets.PartWords:  ownWords,
		voicenets.PartDigits: nil, // no keys of a phone
	}}
	proof, err := voicenets.Prove(context.Background(), c, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	parts, err := voicenets.PartsOf(c)
	fmt.Println(parts, err)
	fmt.Println(proof.Source, len(proof.Claims) > 30)
	// Output:
	// [speech turns text uplink model playout words ears prompts model_silence link call] <nil>
	// proved now true
}

// TestOwnWords: a part of one's own is tested alone, by a script.
func TestOwnWords(t *testing.T) {
	petritest.RunPart(t, "testdata/own_words", ownWords(voicenets.Config{}))
}

// eagerUplink sends every frame of an open turn up, and does not ask whether
// anybody may hear it.
func eagerUplink(voicenets.Config) *petri.Net {
	const (
		inTurn petri.Place[*voicenets.CallerTurn] = "in_turn"
		online petri.Place[petri.Unit]            = "online"
	)
	return &petri.Net{
		Name:  "uplink",
		Ports: []petri.AnyPlace{voicenets.CallerAudio, voicenets.AudioUp, inTurn, online},
		Env:   []petri.Env{{Place: voicenets.CallerAudio, Capacity: 60, Policy: petri.DropOldest}},
		Out:   []petri.Output{{Place: voicenets.AudioUp}},
		Transitions: []petri.Transition{
			{Name: "send_frame_up", In: petri.Arcs{voicenets.CallerAudio}, Read: petri.Arcs{inTurn, online},
				Out: petri.And(voicenets.AudioUp)},
		},
	}
}

// A part that breaks a claim is refused, with the claim and a story that breaks
// it.
func Example_refusedPart() {
	_, err := voicenets.Prove(context.Background(), voicenets.Config{
		Parts: map[voicenets.Part]func(voicenets.Config) *petri.Net{voicenets.PartUplink: eagerUplink},
	}, nil)
	refusal, story, _ := strings.Cut(err.Error(), "\n")
	claim, verdict, _ := strings.Cut(strings.TrimPrefix(refusal, "voicenets: prove the session: "), " (")
	_, verdict, _ = strings.Cut(verdict, ") ")
	verdict, _, _ = strings.Cut(verdict, ":")
	fmt.Println(claim, verdict)
	fmt.Println(story)
	// Output:
	// V8-uplink is unknown
	// start: empty
	//   1 caller/peer_mute_on: peer_mute[on]
	//   2 session/ears/mute: deaf session/ears/muted
	//   3 session/turns/start_turn*: deaf in_turn session/ears/muted
	//   4 session/link/connect*: deaf in_turn online session/ears/muted
}
