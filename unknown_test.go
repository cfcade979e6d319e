package voicegw

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// The first values behind the constants of voicenets.
var (
	unknownCommand = voicenets.Command(len(voicenets.Command(0).KeyNames()))
	unknownNotice  = voicenets.NoticeKind(len(voicenets.NoticeKind(0).KeyNames()))
)

// idleCall is a call that has not begun. Its parts are in place.
func idleCall(t *testing.T) *call {
	t.Helper()
	p := newFarEnd()
	g, err := New(Config{Dialer: newMind(), Greeting: "Say hello."})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := g.plan(t.Context(), &p.hello)
	if err != nil {
		t.Fatal(err)
	}
	c := newCall(g, p, p.hello, plan)
	c.out.input, err = newCallerInput(p.hello.InputRateHz, plan.activity, c.sinceBegan, func(*voicenets.CallerFrame) {},
		func(voicenets.Edge) {})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantFault checks that a call ends by a fault of the gateway, whose error names the cause.
func wantFault(t *testing.T, c *call, cause string) {
	t.Helper()
	w := c.end.ending()
	if w.reason != transport.ReasonInternal || !errors.Is(w.err, errUnknown) || !strings.Contains(w.err.Error(), cause) {
		t.Errorf("the call ends by %s: %v; want %s: an error that names %s", w.reason, w.err, transport.ReasonInternal, cause)
	}
}

// wantNoFault checks that a call goes on.
func wantNoFault(t *testing.T, c *call, what fmt.Stringer) {
	t.Helper()
	if c.end.decided != nil {
		t.Errorf("the call ends at %v: %v", what, c.end.decided.err)
	}
}

// sentConn is a connection to the model that notes what it is sent.
type sentConn struct {
	live.Conn
	got []live.ClientMessage
}

func (s *sentConn) Send(_ context.Context, m live.ClientMessage) error {
	s.got = append(s.got, m)
	return nil
}

// TestCommands: each command of the net is passed on, and reaches the model as a message of its own.
func TestCommands(t *testing.T) {
	c, conn, messages := idleCall(t), &sentConn{}, map[string]voicenets.Command{}
	for i := range unknownCommand {
		c.out.command(i)
		if wantNoFault(t, c, i); c.out.model.waiting() != int(i)+1 {
			t.Errorf("%d commands wait behind %v", c.out.model.waiting(), i)
		}
		if err := c.out.model.send(t.Context(), conn, &modelItem{cmd: i}); err != nil {
			t.Errorf("%v: %v", i, err)
			continue
		}
		m := conn.got[len(conn.got)-1]
		key := fmt.Sprint(m.Kind, m.Text)
		if other, again := messages[key]; again {
			t.Errorf("the model gets the same for %v as for %v", i, other)
		}
		messages[key] = i
	}
}

// TestUnknownCommand: a command that the gateway does not know ends the call, and the model gets
// nothing for it.
func TestUnknownCommand(t *testing.T) {
	t.Run("from the net", func(t *testing.T) {
		c := idleCall(t)
		c.out.command(unknownCommand)
		wantFault(t, c, fmt.Sprintf("command %d", unknownCommand))
		if n := c.out.model.waiting(); n != 0 {
			t.Errorf("%d items wait for the model", n)
		}
	})
	t.Run("in the queue", func(t *testing.T) {
		c, conn := idleCall(t), &sentConn{}
		c.out.model.use(&link{conn: conn, log: zap.NewNop()})
		c.out.model.put(modelItem{cmd: unknownCommand})
		c.out.model.close()
		c.out.model.write(t.Context())
		wantFault(t, c, fmt.Sprintf("command %d", unknownCommand))
		if len(conn.got) != 0 {
			t.Errorf("the model got %v", conn.got)
		}
	})
}

// TestNotices: each notice of the net reaches the peer as a message of its own.
func TestNotices(t *testing.T) {
	c, messages := idleCall(t), map[string]voicenets.NoticeKind{}
	for i := range unknownNotice {
		n := voicenets.Notice{Kind: i}
		c.out.notice(n)
		wantNoFault(t, c, i)
		m, err := message(n)
		if err != nil {
			t.Errorf("%v: %v", i, err)
			continue
		}
		key := fmt.Sprint(m.Kind, m.State, m.TurnEnd, m.Code)
		if other, again := messages[key]; again {
			t.Errorf("the peer gets the same for %v as for %v", i, other)
		}
		messages[key] = i
	}
}

// TestUnknownNotice: a notice that the gateway does not know ends the call, and the peer gets
// nothing for it.
func TestUnknownNotice(t *testing.T) {
	n := voicenets.Notice{Kind: unknownNotice}
	t.Run("from the net", func(t *testing.T) {
		c := idleCall(t)
		c.out.notice(n)
		wantFault(t, c, fmt.Sprintf("notice %d", unknownNotice))
	})
	t.Run("in the queue", func(t *testing.T) {
		c := idleCall(t)
		c.peer.(*farEnd).onSend = func(_ *farEnd, m *transport.Message) error {
			t.Errorf("the peer got %v %q", m.Kind, m.Text)
			return nil
		}
		c.out.peer.put(peerItem{notice: n})
		c.out.peer.close()
		c.out.peer.write(t.Context())
		wantFault(t, c, fmt.Sprintf("notice %d", unknownNotice))
	})
}

// TestUnknownOutput: an output that the gateway does not know ends the call, also one with a colour
// that it knows, and one whose colour is not that of its place.
func TestUnknownOutput(t *testing.T) {
	for place, token := range map[string]petri.Token{
		"elsewhere":      petri.Place[petri.Unit]("elsewhere").Token(petri.Unit{}),
		"text_elsewhere": petri.Place[*voicenets.Typed]("text_elsewhere").Token(&voicenets.Typed{}),
		"dial":           petri.Place[int]("dial").Token(1),
		"hangup":         petri.Place[int]("hangup").Token(1),
	} {
		t.Run(place, func(t *testing.T) {
			c := idleCall(t)
			c.out.handle(t.Context(), token)
			wantFault(t, c, `"`+place+`"`)
			if c.out.model.waiting() != 0 || c.out.peer.waiting() != 0 {
				t.Errorf("%d items wait for the model and %d for the peer", c.out.model.waiting(), c.out.peer.waiting())
			}
		})
	}
}

// TestUnknownOutputInCall: a session whose own part puts out what the gateway does not know is ended
// with the reason internal.
func TestUnknownOutputInCall(t *testing.T) {
	const elsewhere petri.Place[petri.Unit] = "elsewhere"
	own := func(c voicenets.Config) *petri.Net {
		return &petri.Net{Name: "transcript", Ports: []petri.AnyPlace{voicenets.Transcript, elsewhere},
			Env: []petri.Env{{Place: voicenets.Transcript, Capacity: 64, Policy: petri.DropOldest}},
			Out: []petri.Output{{Place: elsewhere}},
			Transitions: []petri.Transition{
				{Name: "lose", In: petri.Arcs{voicenets.Transcript.Is(voicenets.Caller)}, Out: petri.And(elsewhere)}}}
	}
	synctest.Test(t, func(t *testing.T) {
		p, m := newFarEnd(), newMind()
		wait := run(t, Config{OneMode: true, Net: voicenets.Config{
			Parts: map[voicenets.Part]func(voicenets.Config) *petri.Net{voicenets.PartTranscript: own}}}, p, m)
		<-p.ready
		m.down <- live.ServerMessage{Kind: live.ServerCallerTranscript, Text: "hello"}
		synctest.Wait()
		select {
		case <-p.ended:
		case p.events <- bye():
		}
		if err := wait(); !errors.Is(err, errUnknown) || p.reason != transport.ReasonInternal {
			t.Errorf("the call ended by %s: %v", p.reason, err)
		}
	})
}
