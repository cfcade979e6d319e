package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// CallerFrame is 20 ms of caller audio: 16-bit mono PCM at 16 kHz.
type CallerFrame struct{ PCM []int16 }

// Size returns the number of samples.
func (f *CallerFrame) Size() int {
	if f == nil {
		return 0
	}
	return len(f.PCM)
}

// ModelFrame is 20 ms of the model's audio as it arrives. Audio carries no turn on the wire, so the
// colour has no generation. The net sets Gen when it accepts the frame. The sender must not touch
// the frame after injecting it.
type ModelFrame ReplyFrame

// Size returns the number of samples.
func (f *ModelFrame) Size() int {
	if f == nil {
		return 0
	}
	return len(f.PCM)
}

// ReplyFrame is 20 ms of a reply. A frame of the model has the generation in which the net accepted
// it. A frame of a prompt has the Gen of its Playing.
type ReplyFrame struct {
	Gen petri.Gen
	PCM []int16
}

// Generation returns the turn that the frame belongs to.
func (f *ReplyFrame) Generation() petri.Gen {
	if f == nil {
		return 0
	}
	return f.Gen
}

// Size returns the number of samples.
func (f *ReplyFrame) Size() int {
	if f == nil {
		return 0
	}
	return len(f.PCM)
}

// Ack reports that the peer has played one frame of a generation (PeerAck), or that the last frame
// of a prompt was sent (PromptEnd).
type Ack struct{ Gen petri.Gen }

// Generation returns the turn of the frame or prompt.
func (a Ack) Generation() petri.Gen { return a.Gen }

// CallerTurn is the caller's input in one turn. The net keeps it until it is answered, so that it
// can repeat the turn to a new connection.
type CallerTurn struct {
	Open   bool           // in TurnAgain: the caller has not finished
	Frames []*CallerFrame // audio of the turn: at most TurnFramesMax, the newest
	Texts  []TextInTurn   // text typed in the turn: at most TurnTextsMax, the newest
	Typed  *Typed         // not nil: the turn is this text, not speech
	Before *CallerTurn    // the unanswered turn that this one replaced; its own Before is nil
	Greet  bool           // the turn is a request for the greeting
	Cut    bool           // in TurnAgain: part of its reply was played
}

// TextInTurn is text that the caller typed in a turn of speech.
type TextInTurn struct {
	*Typed
	After int // the number of the turn's frames before the text
}

// TurnFramesMax is how much audio of a turn the net keeps: 750 frames, 15 s. TurnTextsMax is how
// many texts of a turn it keeps. Beyond each limit the oldest is dropped.
const (
	TurnFramesMax = 750
	TurnTextsMax  = 16
)

// add appends a frame, and drops the oldest when the turn is full.
func (t *CallerTurn) add(f *CallerFrame) {
	if len(t.Frames) == TurnFramesMax {
		t.Frames = t.Frames[1:]
		for i := range t.Texts {
			t.Texts[i].After = max(0, t.Texts[i].After-1)
		}
	}
	t.Frames = append(t.Frames, f)
}

// addText appends a text, and drops the oldest when the turn is full.
func (t *CallerTurn) addText(text *Typed) {
	if len(t.Texts) == TurnTextsMax {
		t.Texts = t.Texts[1:]
	}
	t.Texts = append(t.Texts, TextInTurn{text, len(t.Frames)})
}

// instead lets t replace an unanswered turn, which it keeps in Before for a new connection. It
// returns t. It does not keep a request for the greeting, nor a turn that was answered in part.
func (t *CallerTurn) instead(of *CallerTurn) *CallerTurn {
	if !of.Greet && !of.Cut {
		before := *of
		before.Before = nil
		t.Before = &before
	}
	return t
}

// Typed is text of the caller, or text that the host sends in the caller's place. The sender must
// not touch it after injecting it.
type Typed struct {
	Text string
	// Role names the speaker of a note: user, system or assistant. It is "" for a text that is no note.
	Role string
	// Request marks a request to speak: the text is not what the caller says.
	Request bool
	// FromHost marks text of the host. The peer gets no notice when such a text is lost.
	FromHost bool
	// Lost is the reason why the text never goes to the model. The net sets it in the firing that
	// drops the text.
	Lost Loss
}

// Loss is the reason why a text does not go to the model.
type Loss uint8

// The reasons for the loss of a text.
const (
	NotLost         Loss = iota
	LostHeld             // the call is on hold
	LostProtected        // during protected input
	LostUnconsented      // the caller has not consented
	LostFull             // TypedMax texts, RequestsMax requests or too many notes wait already
)

// Size returns the length of the text in bytes.
func (t *Typed) Size() int {
	if t == nil {
		return 0
	}
	return len(t.Text)
}

// TranscriptFragment is a fragment of the transcript of one side.
type TranscriptFragment struct {
	Who   Speaker
	Text  string
	Final bool
	Gen   petri.Gen // the turn in which it is shown; the net sets it
	Link  any       // the connection that it came from; the net passes it on
}

// Key returns the side that spoke.
func (w *TranscriptFragment) Key() petri.Key { return petri.Key(w.Who) }

// KeyNames returns the names of the two sides.
func (*TranscriptFragment) KeyNames() []string { return []string{"caller", "model"} }

// Size returns the length of the text in bytes.
func (w *TranscriptFragment) Size() int {
	if w == nil {
		return 0
	}
	return len(w.Text)
}

// Digits are keys that the caller pressed on a phone. They may be a card number, so they are never
// recorded (petri.Secret).
type Digits struct {
	Text string // 0-9 * # A-D
	Last bool   // the entry is complete: the caller pressed # or paused
}

// Key returns 1 if Last is set, else 0.
func (d *Digits) Key() petri.Key {
	if d.Last {
		return 1
	}
	return 0
}

// KeyNames returns the names of the keys.
func (*Digits) KeyNames() []string { return []string{"more", "last"} }

// Secret marks digits as data that is never recorded.
func (*Digits) Secret() {}

// TypedMax is how many texts may wait for their turn. Beyond this limit the net drops a text and
// reports it at TextLost.
const TypedMax = 4

// RequestsMax is how many requests to speak may wait for their turn. Beyond this limit the net drops
// a request and reports it at TextLost.
const RequestsMax = 4

// DigitsMax is the most digits of one entry. The net drops digits beyond it.
const DigitsMax = 32

// Target is the address that takes over a call, in a form that the peer's endpoint understands.
type Target struct{ Address string }

// Resumption is the handle with which another connection resumes the conversation.
type Resumption struct{ Handle string }

// Dialling is the result of a dial.
type Dialling struct {
	Result DialResult
	Link   any // the connection, if Result is Fresh or Resumed
}

// Key returns the result.
func (d *Dialling) Key() petri.Key { return petri.Key(d.Result) }

// KeyNames returns the names of the results.
func (*Dialling) KeyNames() []string { return Fresh.KeyNames() }

// Playing is a request to play a prompt as frames of a generation.
type Playing struct {
	Prompt Prompt
	Gen    petri.Gen
}

// Generation returns the turn of the prompt.
func (p Playing) Generation() petri.Gen { return p.Gen }

// ToolCall is a tool call of the model, or its cancellation. Payload identifies the call: a
// cancellation has the Payload of its call. The sender chooses the type, which must be comparable.
type ToolCall struct{ Payload any }

// ToolRun is a tool call that runs in a slot.
type ToolRun struct {
	Slot Slot
	Call *ToolCall
}

// ToolEnd is the end of a tool call: the Payload of a function that returned, or the reason in How
// why there is none.
type ToolEnd struct {
	Slot    Slot
	Call    *ToolCall // set by the net
	How     ToolHow   // set by the net
	Payload any
}

// Key returns the slot.
func (e *ToolEnd) Key() petri.Key { return petri.Key(e.Slot) }

// KeyNames returns the names of the slots.
func (*ToolEnd) KeyNames() []string { return Slot(0).KeyNames() }

// String returns the slot and the way in which the call ended for the model.
func (e *ToolEnd) String() string { return fmt.Sprintf("%d %s", e.Slot, e.How) }

// Notice is one event that the net reports to the peer.
type Notice struct {
	Kind NoticeKind
	Gen  petri.Gen // the turn that it is about
}

// Key returns the kind as a key.
func (n Notice) Key() petri.Key { return petri.Key(n.Kind) }

// KeyNames returns the names of the kinds.
func (n Notice) KeyNames() []string { return n.Kind.KeyNames() }

// String returns the name of the kind.
func (n Notice) String() string { return n.Kind.String() }
