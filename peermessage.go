package voicegw

import (
	"strconv"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// Codes of errors that the peer is sent.
const (
	codeTextLost = "text_lost"    // a text does not go to the model
	codeNoReply  = "no_reply"     // the model has no reply to a turn
	codeTooFast  = "too_fast"     // the caller types too fast
	codeNoTool   = "no_tool_call" // no tool call waits for this result
	codeMessage  = "message_lost" // a message does not go to the application
)

// wire is a generation as the protocol counts: from 1.
func wire(g petri.Gen) uint64 { return uint64(g) + 1 }

// transcript is a fragment of a transcript as a message to the peer.
func transcript(w *voicenets.TranscriptFragment) transport.Message {
	who := transport.WhoCaller
	if w.Who == voicenets.Model {
		who = transport.WhoModel
	}
	return transport.Message{Kind: transport.MessageTranscript, Who: who, Text: w.Text, Final: w.Final,
		Generation: wire(w.Gen)}
}

// turnEnd is how a reply ended, by the notice that it did; "" for a notice of something else.
func turnEnd(kind voicenets.NoticeKind) transport.TurnEnd {
	switch kind {
	case voicenets.ReplyCut:
		return transport.TurnInterrupted
	case voicenets.ReplyComplete:
		return transport.TurnComplete
	case voicenets.ReplyLost:
		return transport.TurnModelLost
	}
	return ""
}

// message is a notice as a message to the peer. The error wraps errUnknown.
func message(n voicenets.Notice) (transport.Message, error) {
	m := transport.Message{Kind: transport.MessageTurn, Generation: wire(n.Gen)}
	switch n.Kind {
	case voicenets.SpeechHeard:
		m.Kind, m.State = transport.MessageSpeech, transport.StateStart
	case voicenets.SpeechOver:
		m.Kind, m.State = transport.MessageSpeech, transport.StateStop
	case voicenets.ReplyStarted:
		m.State = transport.StateStart
	case voicenets.ReplyPaused:
		m.State = transport.StatePause
	case voicenets.ReplyResumed:
		m.State = transport.StateResume
	case voicenets.ReplyCut, voicenets.ReplyComplete, voicenets.ReplyLost:
		m.State, m.TurnEnd = transport.StateEnd, turnEnd(n.Kind)
	case voicenets.ClearPlayout:
		m.Kind = transport.MessageClear
	case voicenets.MarkEnd:
		m.Kind, m.ID = transport.MessageMark, strconv.FormatUint(m.Generation, 10)+":end"
	default:
		return modeMessage(n.Kind)
	}
	return m, nil
}

// modeMessage is a notice about what the call is like.
func modeMessage(kind voicenets.NoticeKind) (transport.Message, error) {
	begins := func(k transport.MessageKind, start bool) (transport.Message, error) {
		if start {
			return transport.Message{Kind: k, State: transport.StateStart}, nil
		}
		return transport.Message{Kind: k, State: transport.StateStop}, nil
	}
	switch kind {
	case voicenets.HoldStarted, voicenets.HoldEnded:
		return begins(transport.MessageHold, kind == voicenets.HoldStarted)
	case voicenets.ConsentAsked, voicenets.ConsentGiven:
		return begins(transport.MessageConsent, kind == voicenets.ConsentAsked)
	case voicenets.ProtectStarted, voicenets.ProtectEnded:
		return begins(transport.MessageProtected, kind == voicenets.ProtectStarted)
	case voicenets.LinkLost:
		return transport.Message{Kind: transport.MessageModel, State: transport.StateLost}, nil
	case voicenets.LinkBack:
		return transport.Message{Kind: transport.MessageModel, State: transport.StateBack}, nil
	case voicenets.NoReply:
		return transport.Message{Kind: transport.MessageError, Code: codeNoReply, Text: "The model has no answer."}, nil
	default:
		return transport.Message{}, unknown("notice", kind)
	}
}

// textLost reports a text that does not go to the model. It does not quote the text.
func textLost(why voicenets.Loss) *transport.Message {
	return &transport.Message{Kind: transport.MessageError, Code: codeTextLost,
		Text: "The text was not sent: " + whyLost(why) + "."}
}
