package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// CallerFrame is 20 ms of what the caller said, 16 kHz mono.
type CallerFrame struct{ PCM []int16 }

// Size is the number of samples.
func (f *CallerFrame) Size() int {
	if f == nil {
		return 0
	}
	return len(f.PCM)
}

// ModelFrame is 20 ms of the model's voice as it arrives. Audio carries no turn
// on the wire, so the colour has no generation: the net stamps Gen when it
// accepts the frame. The sender must not touch the frame after injecting it.
type ModelFrame ReplyFrame

// Size is the number of samples.
func (f *ModelFrame) Size() int {
	if f == nil {
		return 0
	}
	return len(f.PCM)
}

// ReplyFrame is 20 ms of the reply that is played: of the model, with the
// generation in which the net accepted it, or of a prompt, with the Gen of its
// Playing.
type ReplyFrame struct {
	Gen petri.Gen
	PCM []int16
}

// Generation is the turn the frame belongs to.
func (f *ReplyFrame) Generation() petri.Gen {
	if f == nil {
		return 0
	}
	return f.Gen
}

// Size is the number of samples.
func (f *ReplyFrame) Size() int {
	if f == nil {
		return 0
	}
	return len(f.PCM)
}

// Ack says that the peer has played one frame of a generation, or that a
// prompt of a generation is given to its end.
type Ack struct{ Gen petri.Gen }

// Generation is the turn of the frame or prompt.
func (a Ack) Generation() petri.Gen { return a.Gen }

// CallerTurn is what the caller said in one turn, kept until it is answered,
// so that another connection can be told again.
type CallerTurn struct {
	Open   bool           // TurnAgain: the caller has not finished
	Frames []*CallerFrame // at most TurnFramesMax, the newest
	Texts  []TextInTurn   // what was typed meanwhile, at most TurnTextsMax, the newest
	Typed  *Typed         // the text it is, in place of speech
	Before *CallerTurn    // the turn whose place it took before that was answered; it has none before it
	Greet  bool           // it asks for the greeting
	Cut    bool           // TurnAgain: its reply was heard in part
}

// TextInTurn is text that was typed in a turn of speech.
type TextInTurn struct {
	*Typed
	After int // so many of the turn's frames come before it
}

// TurnFramesMax is how much of an open turn is kept: 15 s. TurnTextsMax is how
// many texts that were typed in it.
const (
	TurnFramesMax = 750
	TurnTextsMax  = 16
)

// add keeps a frame.
func (t *CallerTurn) add(f *CallerFrame) {
	if len(t.Frames) == TurnFramesMax {
		t.Frames = t.Frames[1:]
		for i := range t.Texts {
			t.Texts[i].After = max(0, t.Texts[i].After-1)
		}
	}
	t.Frames = append(t.Frames, f)
}

// addText keeps a text.
func (t *CallerTurn) addText(text *Typed) {
	if len(t.Texts) == TurnTextsMax {
		t.Texts = t.Texts[1:]
	}
	t.Texts = append(t.Texts, TextInTurn{text, len(t.Frames)})
}

// instead makes t take the place of a turn that waits for its reply, and keep
// that one for another connection. It returns t. The request for a greeting is
// not made again, and a turn that was answered in part is not told in full.
func (t *CallerTurn) instead(of *CallerTurn) *CallerTurn {
	if !of.Greet && !of.Cut {
		before := *of
		before.Before = nil
		t.Before = &before
	}
	return t
}

// Typed is text of the caller, or of the host in the caller's place. The sender
// must not touch it after injecting it.
type Typed struct {
	Text string
	// FromHost says that the host said it: the peer is not told when it is lost.
	FromHost bool
	// Lost is the reason why the text never goes to the model, set by the net in
	// the firing that drops it.
	Lost Loss
}

// Loss is why a text does not go to the model.
type Loss uint8

// The losses of text.
const (
	NotLost         Loss = iota
	LostHeld             // the call was on hold
	LostProtected        // during protected input
	LostUnconsented      // the caller had not agreed to be listened to
	LostFull             // TypedMax texts waited already
)

// Size is the length of the text in bytes.
func (t *Typed) Size() int {
	if t == nil {
		return 0
	}
	return len(t.Text)
}

// Words are a fragment of a transcript.
type Words struct {
	Who   Speaker
	Text  string
	Final bool
	Gen   petri.Gen // the turn it was shown in; stamped by the net
	Link  any       // the connection that said it; the net passes it on
}

// Key returns who spoke.
func (w *Words) Key() petri.Key { return petri.Key(w.Who) }

// KeyNames names the two sides.
func (*Words) KeyNames() []string { return []string{"caller", "model"} }

// Size is the length of the text in bytes.
func (w *Words) Size() int {
	if w == nil {
		return 0
	}
	return len(w.Text)
}

// Digits are keys of a phone. They may be a card number, so nothing of them is
// ever recorded.
type Digits struct {
	Text string // 0-9 * # A-D
	Last bool   // nothing more belongs to them: the caller pressed #
}

// Key is 1 for the last.
func (d *Digits) Key() petri.Key {
	if d.Last {
		return 1
	}
	return 0
}

// KeyNames names the keys.
func (*Digits) KeyNames() []string { return []string{"more", "last"} }

// Secret says that digits are not recorded.
func (*Digits) Secret() {}

// TypedMax is how many texts may wait for their turn. The net drops what comes
// on top of them, and says so.
const TypedMax = 4

// DigitsMax is the most digits that are collected for one entry.
const DigitsMax = 32

// Target is who takes a call over: an address that the peer's door understands.
type Target struct{ Address string }

// Resumption is how to go on with a conversation on another connection.
type Resumption struct{ Handle string }

// Dialling is what became of a dial.
type Dialling struct {
	Result DialResult
	Link   any // the connection, if it is up
}

// Key returns the result.
func (d *Dialling) Key() petri.Key { return petri.Key(d.Result) }

// KeyNames names the results.
func (*Dialling) KeyNames() []string { return Fresh.KeyNames() }

// Playing is a prompt that is to be given, as frames of its generation.
type Playing struct {
	Prompt Prompt
	Gen    petri.Gen
}

// Generation is the turn the prompt is.
func (p Playing) Generation() petri.Gen { return p.Gen }

// ToolCall is a call of the model, or its cancellation. Payload is the sender's
// own and names the call: a cancellation has that of its call. It must be
// comparable.
type ToolCall struct{ Payload any }

// ToolRun is a call that runs in a slot.
type ToolRun struct {
	Slot Slot
	Call *ToolCall
}

// ToolEnd is how a call ended: the Payload of a function that returned, or why
// there is none.
type ToolEnd struct {
	Slot    Slot
	Call    *ToolCall // set by the net
	How     ToolHow   // set by the net
	Payload any
}

// Key returns the slot.
func (e *ToolEnd) Key() petri.Key { return petri.Key(e.Slot) }

// KeyNames names the slots.
func (*ToolEnd) KeyNames() []string { return Slot(0).KeyNames() }

// String is the slot and how the call ended for the model.
func (e *ToolEnd) String() string { return fmt.Sprintf("%d %s", e.Slot, e.How) }

// Notice is one thing the peer is told.
type Notice struct {
	Kind NoticeKind
	Gen  petri.Gen // the turn it is about
}

// Key returns the kind as a key.
func (n Notice) Key() petri.Key { return petri.Key(n.Kind) }

// KeyNames names the kinds.
func (n Notice) KeyNames() []string { return n.Kind.KeyNames() }

// String names the kind.
func (n Notice) String() string { return n.Kind.String() }
