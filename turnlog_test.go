package voicegw_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestTurnHook passes each turn to the host: the caller's words before the reply to them, what was
// heard of the reply and after how long, and its tokens.
func TestTurnHook(t *testing.T) {
	t.Parallel()
	turns := make(chan voicegw.Turn, 16)
	cfg := voicegw.Config{Hooks: voicegw.Hooks{Turn: func(s *voicegw.Session, turn voicegw.Turn) {
		if s.ID() == "" {
			t.Error("the hook has no session")
		}
		turns <- turn
	}}}
	inBubble(t, plan{model: sim.Config{CallerText: "how are you"}, gw: cfg, away: 5 * time.Millisecond}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("question", 16000))
		ended := p.ended(transport.TurnComplete)
		asked, reply := <-turns, <-turns
		if asked.Who != transport.WhoCaller || asked.Text != "how are you" || asked.Generation != ended.Generation {
			t.Errorf("the caller's turn is %+v", asked)
		}
		if reply.Who != transport.WhoModel || reply.Text != "how are you" || reply.HeardMS != ended.HeardMS ||
			reply.HeardMS == 0 || reply.Interrupted() || reply.End != transport.TurnComplete {
			t.Errorf("the reply is %+v, the peer was told %+v", reply, ended)
		}
		if reply.Latency < 5*time.Millisecond || reply.Latency > 5*time.Second {
			t.Errorf("the reply came after %v", reply.Latency)
		}
		if u := reply.Usage; u != ended.Usage && u.ResponseAudio == 0 || u.PromptAudio == 0 ||
			u.Total != u.Prompt+u.Response {
			t.Errorf("the reply cost %+v", u)
		}
		p.say(speech("over", 16000))
		second := p.turn(transport.StateStart)
		time.Sleep(300 * time.Millisecond)
		p.say(speech("question", 16000))
		cut := p.ended(transport.TurnInterrupted)
		<-turns // the caller's
		if turn := <-turns; !turn.Interrupted() || turn.Generation != second.Generation || turn.HeardMS != cut.HeardMS {
			t.Errorf("the interrupted turn is %+v, the peer was told %+v", turn, cut)
		}
	})
}

// TestTurnHookTyped has the caller's typed text as its turn, but no text of the host's.
func TestTurnHookTyped(t *testing.T) {
	t.Parallel()
	turns := make(chan voicegw.Turn, 16)
	var session *voicegw.Session
	up := make(chan struct{})
	cfg := voicegw.Config{Hooks: voicegw.Hooks{Turn: func(_ *voicegw.Session, turn voicegw.Turn) { turns <- turn },
		Running: func(s *voicegw.Session) { session = s; close(up) }}}
	inBubble(t, plan{gw: cfg}, func(w *world) {
		p := w.call(hello(), manner{})
		p.send(transport.Event{Kind: transport.EventText, Text: "what time is it"})
		p.ended(transport.TurnComplete)
		var who []string
		for range 2 {
			turn := <-turns
			who = append(who, string(turn.Who)+": "+turn.Text)
		}
		if !slices.Equal(who, []string{"caller: what time is it", "model: Hello there."}) {
			t.Errorf("turns %s", strings.Join(who, "; "))
		}
		<-up
		if err := session.Text("secret"); err != nil {
			t.Fatal(err)
		}
		p.ended(transport.TurnComplete)
		if turn := <-turns; turn.Who != transport.WhoModel {
			t.Errorf("the host's text is a turn of the caller: %+v", turn)
		}
	})
}

// names lists the stages of a turn, and checks their order.
func names(t *testing.T, turn voicegw.Turn) string {
	t.Helper()
	var list []string
	last := time.Duration(0)
	for _, s := range turn.Stages {
		if s.At < last || s.At > turn.Ended {
			t.Errorf("%s is at %v, after %v, of a turn that ended at %v", s.Name, s.At, last, turn.Ended)
		}
		last = s.At
		list = append(list, string(s.Name))
	}
	return strings.Join(list, " ")
}

// TestTurnStages follows a question with a tool call, a reply that the caller interrupts, and a turn
// that the end of the call leaves without a reply.
func TestTurnStages(t *testing.T) {
	t.Parallel()
	turns := make(chan voicegw.Turn, 16)
	tool := voicegw.Tool{Name: "look_up", Description: "looks something up",
		Call: func(context.Context, json.RawMessage) (json.RawMessage, error) {
			time.Sleep(time.Second)
			return json.RawMessage(`{"found":"it"}`), nil
		}}
	cfg := voicegw.Config{Tools: []voicegw.Tool{tool}, Hooks: voicegw.Hooks{Turn: func(_ *voicegw.Session,
		turn voicegw.Turn) {
		if turn.Who == transport.WhoModel || len(turn.Stages) > 0 {
			turns <- turn
		}
	}}}
	script := scenario(t, "transcripts missing\non turn 1: call look_up {\"of\":\"x\"}\non turn 3: ignore")
	inBubble(t, plan{model: sim.Config{Scenario: script}, gw: cfg, away: 5 * time.Millisecond}, func(w *world) {
		p := w.call(hello(), manner{})
		p.say(speech("question", 16000))
		p.ended(transport.TurnComplete)
		turn := <-turns
		if got := names(t, turn); got != "speech_began speech_ended turn_ended model_first sent_first played_first" {
			t.Errorf("the stages of an answer are %s", got)
		}
		if len(turn.Tools) != 1 || turn.Began() != turn.Stages[0].At {
			t.Fatalf("the turn is %+v", turn)
		}
		c := turn.Tools[0]
		if took := c.Ended - c.Began; c.Name != "look_up" || c.Result != "answered" || c.Args != `{"of":"x"}` ||
			c.Answer != `{"found":"it"}` || took < time.Second || took > 1100*time.Millisecond {
			t.Errorf("the tool call is %+v", c)
		}
		p.say(speech("long", 16000))
		p.turn(transport.StateStart)
		time.Sleep(300 * time.Millisecond)
		p.say(speech("question", 16000))
		p.ended(transport.TurnInterrupted)
		turn = <-turns
		if got := names(t, turn); turn.Tools != nil || !turn.Interrupted() || got != "speech_began speech_ended turn_ended "+
			"model_first sent_first played_first paused cleared silent" {
			t.Errorf("the stages of an interrupted reply are %s", got)
		}
		time.Sleep(6 * time.Second)
		p.hangUp()
		turn = <-turns
		if got := names(t, turn); turn.Who != transport.WhoCaller || turn.End != transport.TurnCallOver ||
			got != "speech_began speech_ended turn_ended" {
			t.Errorf("the turn without a reply is %+v", turn)
		}
	})
}
