package claims

import (
	"slices"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/voicenets"
)

// View is a session with only some of its environment places, and possibly with only some of their
// tokens. It leaves out what can then never happen, so that it can be explored in full.
type View struct {
	Name string
	env  []petri.AnyPlace
	// without names moves of the automata to leave out.
	without string
	// frames is how many frames of audio come from the model, and how many from a prompt; 0: any
	// number.
	frames int
	// small lists further environment places for a session with small counts (Whole).
	small []petri.AnyPlace
}

// dialsFresh leaves only dials that succeed and begin a conversation.
const dialsFresh = "dialled_resumed dialled_unreachable dialled_refused dialled_withheld"

// Views lists views that together cover a session, the largest last. In each view, a caller who
// must consent may do so.
func Views(c voicenets.Config) []View {
	list := []View{
		{Name: "talk", env: []petri.AnyPlace{voicenets.SpeechEdge, voicenets.ModelAudio, voicenets.ModelSignal,
			voicenets.PeerAck}},
		{Name: "text", env: []petri.AnyPlace{voicenets.CallerText, voicenets.ModelAudio, voicenets.ModelSignal,
			voicenets.Hold, voicenets.Protect}},
		{Name: "text over speech", env: []petri.AnyPlace{voicenets.CallerText, voicenets.SpeechEdge, voicenets.ModelAudio}},
		{Name: "requests", env: []petri.AnyPlace{voicenets.Request, voicenets.CallerText, voicenets.ModelAudio,
			voicenets.ModelSignal, voicenets.Hold, voicenets.Protect}, frames: 1},
		{Name: "notes", env: []petri.AnyPlace{voicenets.Note, voicenets.CallerText, voicenets.ModelAudio,
			voicenets.ModelSignal, voicenets.Hold, voicenets.Protect, voicenets.Dialled},
			without: dialsFresh, frames: 1},
		{Name: "input gate", env: []petri.AnyPlace{voicenets.PeerMute, voicenets.Hold, voicenets.Protect, voicenets.Consent,
			voicenets.SpeechEdge, voicenets.CallerAudio, voicenets.Dialled},
			without: dialsFresh},
		{Name: "hold", env: []petri.AnyPlace{voicenets.Hold, voicenets.SpeechEdge, voicenets.ModelAudio,
			voicenets.PeerAck}},
		{Name: "digits", env: []petri.AnyPlace{voicenets.CallerDigit, voicenets.Protect, voicenets.Hold,
			voicenets.ModelSignal}},
		{Name: "tools", env: []petri.AnyPlace{voicenets.ToolCalled, voicenets.ToolDone, voicenets.ToolCancelled,
			voicenets.Dialled, voicenets.LinkDown, voicenets.GoAway}},
		{Name: "tools in talk", env: []petri.AnyPlace{voicenets.Dialled, voicenets.ToolCalled, voicenets.ToolDone,
			voicenets.SpeechEdge, voicenets.ModelAudio},
			without: dialsFresh, frames: 1},
		{Name: "tools and text", env: []petri.AnyPlace{voicenets.Dialled, voicenets.ToolCalled, voicenets.ToolDone,
			voicenets.CallerText, voicenets.SpeechEdge, voicenets.ModelAudio},
			without: dialsFresh, frames: 1},
		{Name: "link", env: []petri.AnyPlace{voicenets.Dialled, voicenets.LinkDown, voicenets.GoAway, voicenets.Handle,
			voicenets.CallerText}},
		{Name: "link on hold", env: []petri.AnyPlace{voicenets.Dialled, voicenets.LinkDown, voicenets.Hold,
			voicenets.Protect},
			without: "dialled_resumed dialled_unreachable dialled_refused"},
		{Name: "text online", env: []petri.AnyPlace{voicenets.CallerText, voicenets.ModelAudio, voicenets.Dialled},
			frames: 2},
		{Name: "call", env: []petri.AnyPlace{voicenets.Over, voicenets.Drain, voicenets.HandOff, voicenets.Dialled,
			voicenets.LinkDown, voicenets.PromptEnd}},
		{Name: "ending", env: []petri.AnyPlace{voicenets.Drain, voicenets.Dialled, voicenets.SpeechEdge}},
		{Name: "silence", env: []petri.AnyPlace{voicenets.Dialled, voicenets.CallerText, voicenets.ModelSignal,
			voicenets.PromptEnd, voicenets.Hold}},
		{Name: "transcript", env: []petri.AnyPlace{voicenets.Transcript, voicenets.CallerText, voicenets.ModelAudio,
			voicenets.SpeechEdge}, frames: 2},
		{Name: "going away in speech", env: []petri.AnyPlace{voicenets.Dialled, voicenets.GoAway, voicenets.SpeechEdge,
			voicenets.ModelAudio},
			without: "dialled_refused dialled_withheld", frames: 1},
		{Name: "going away after a loss", env: []petri.AnyPlace{voicenets.Dialled, voicenets.GoAway, voicenets.LinkDown,
			voicenets.ModelAudio}, frames: 1},
		{Name: "going away on hold", env: []petri.AnyPlace{voicenets.Dialled, voicenets.GoAway, voicenets.Hold,
			voicenets.ModelAudio, voicenets.ModelSignal}, frames: 2},
		{Name: "going away from text", env: []petri.AnyPlace{voicenets.Dialled, voicenets.GoAway, voicenets.SpeechEdge,
			voicenets.CallerText},
			without: "dialled_refused dialled_withheld"},
		{Name: "talk with prompts", env: []petri.AnyPlace{voicenets.SpeechEdge, voicenets.ModelAudio, voicenets.Dialled,
			voicenets.PromptAudio, voicenets.PromptEnd},
			without: dialsFresh, frames: 1},
		{Name: "link and speech", env: []petri.AnyPlace{voicenets.Dialled, voicenets.LinkDown, voicenets.SpeechEdge,
			voicenets.CallerAudio},
			without: "dialled_refused dialled_withheld", small: []petri.AnyPlace{voicenets.ModelAudio}},
	}
	for i := range list {
		v := &list[i]
		if c.Consent && v.Name != "input gate" {
			v.env, v.without = append(v.env, voicenets.Consent), v.without+" consent_off"
		}
		if (c.Adaptive || c.RepromptAfter > 0) && v.Name == "link and speech" { // the view has many more markings then
			v.without += " dialled_resumed dialled_unreachable speech_edge_confirm"
		}
	}
	return list
}

// Whole is the view with everything that may come to its places, for a session with small counts.
func (v View) Whole() View {
	v.env, v.without, v.frames = slices.Concat(v.env, v.small), "", 0
	return v
}
