package voicegw

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/voicenets"
)

// sentBy is what a queue to the model would send now, by name.
func sentBy(u *modelWriter) (list []string) {
	u.handed()
	for {
		it, _, ok := u.next()
		switch {
		case !ok:
			return list
		case it.text != nil:
			list = append(list, it.text.Text)
		case it.frame != nil:
			list = append(list, "frame")
		case it.tool != nil:
			list = append(list, "reply")
		case it.recap != "":
			list = append(list, "recap")
		default:
			list = append(list, it.cmd.String())
		}
	}
}

// TestModelQueue: the queue keeps its order, holds the caller's items, lets tool replies overtake
// them, drops what a withdrawal of consent forbids, and keeps text that was not sent for the next
// connection, once.
func TestModelQueue(t *testing.T) {
	text := &voicenets.Typed{Text: "hello"}
	frame := &voicenets.CallerFrame{}
	for name, c := range map[string]struct {
		modelVAD bool
		do       func(u *modelWriter)
		want     []string
	}{
		"in order": {do: func(u *modelWriter) {
			u.put(modelItem{cmd: voicenets.ActivityStart})
			u.put(modelItem{frame: frame})
			u.put(modelItem{text: text})
		}, want: []string{"activity_start", "frame", "hello"}},
		"held": {do: func(u *modelWriter) {
			u.put(modelItem{frame: frame})
			u.hold(1)
			u.put(modelItem{tool: &voicenets.ToolEnd{}})
			u.put(modelItem{cmd: voicenets.ActivityEnd})
		}, want: []string{"reply"}},
		"held, and nothing waits": {do: func(u *modelWriter) {
			u.hold(1)
			u.put(modelItem{cmd: voicenets.Nudge})
			u.put(modelItem{frame: frame})
		}, want: []string{"nudge"}},
		"held behind the end of a turn": {do: func(u *modelWriter) {
			u.put(modelItem{cmd: voicenets.ActivityEnd})
			u.put(modelItem{cmd: voicenets.Nudge})
			u.hold(1)
		}},
		"released": {do: func(u *modelWriter) {
			u.put(modelItem{frame: frame})
			u.hold(1)
			u.put(modelItem{cmd: voicenets.Greet})
			u.release(2)
		}, want: []string{"frame", "greet"}},
		"dropped": {do: func(u *modelWriter) {
			u.put(modelItem{frame: frame})
			u.put(modelItem{text: text})
			u.drop(1)
			u.release(2)
		}},
		"another connection": {do: func(u *modelWriter) {
			u.put(modelItem{frame: frame})
			u.put(modelItem{text: text})
			u.use(&link{})
			u.repeat(&voicenets.CallerTurn{Typed: text})
		}, want: []string{"hello"}},
		"another connection, server": {modelVAD: true, do: func(u *modelWriter) {
			u.put(modelItem{frame: frame})
			u.put(modelItem{cmd: voicenets.Nudge})
			u.use(&link{})
		}, want: []string{"frame"}},
		"no connection": {do: func(u *modelWriter) {
			u.link = &link{gone: true}
			u.put(modelItem{text: text})
			u.put(modelItem{cmd: voicenets.Greet})
		}},
		"no connection, and then one": {do: func(u *modelWriter) {
			u.link = &link{gone: true}
			u.put(modelItem{text: text})
			u.put(modelItem{frame: frame})
			u.put(modelItem{text: &voicenets.Typed{Text: "again"}})
			u.use(&link{})
		}, want: []string{"hello", "again"}},
		"not sent to its end": {do: func(u *modelWriter) {
			l := u.link
			u.put(modelItem{text: text})
			u.put(modelItem{text: &voicenets.Typed{Text: "again"}})
			it, _, _ := u.next()
			u.putBack(l, it)
		}, want: []string{"hello", "again"}},
		"not sent to its end, and dropped": {do: func(u *modelWriter) {
			l := u.link
			u.put(modelItem{text: text})
			it, _, _ := u.next()
			u.drop(1)
			u.putBack(l, it)
			u.release(2)
			u.use(&link{})
		}},
		"another connection, held": {do: func(u *modelWriter) {
			u.put(modelItem{frame: frame})
			u.put(modelItem{text: text})
			u.hold(1)
			u.use(&link{})
			u.release(2)
			u.repeat(&voicenets.CallerTurn{Typed: text})
		}, want: []string{"hello"}},
		"another connection, held, server": {modelVAD: true, do: func(u *modelWriter) {
			u.put(modelItem{frame: frame})
			u.hold(1)
			u.use(&link{})
			u.release(2)
		}, want: []string{"frame"}},
		"a repeated turn, held amid": {do: func(u *modelWriter) {
			u.repeat(&voicenets.CallerTurn{Open: true, Frames: []*voicenets.CallerFrame{frame, frame}})
			_, _, _ = u.next()
			_, _, _ = u.next()
			u.hold(1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newTestWriter(c.modelVAD)
			c.do(u)
			if got := sentBy(u); !slices.Equal(got, c.want) {
				t.Errorf("sent %v, want %v", got, c.want)
			}
		})
	}
}

// TestModelQueueSettles: what has waited for a connection, or for the end of a hold, is sent behind the
// turn that the net repeats.
func TestModelQueueSettles(t *testing.T) {
	text, frame := &voicenets.Typed{Text: "hello"}, &voicenets.CallerFrame{}
	for name, do := range map[string]func(u *modelWriter){
		"a connection": func(u *modelWriter) { u.use(&link{}) },
		"a hold": func(u *modelWriter) {
			u.hold(1)
			u.release(2)
		},
	} {
		u := newTestWriter(false)
		u.put(modelItem{text: text})
		do(u)
		u.put(modelItem{tool: &voicenets.ToolEnd{}})
		if it, _, ok := u.next(); !ok || it.tool == nil {
			t.Errorf("%s: first is sent %+v, want the reply of the tool", name, it)
		}
		if it, _, ok := u.next(); ok {
			t.Errorf("%s: %+v is sent before the turn that is to be repeated", name, it)
		}
		u.repeat(&voicenets.CallerTurn{Typed: text, Before: &voicenets.CallerTurn{Frames: []*voicenets.CallerFrame{frame}}})
		want := []string{"activity_start", "frame", "activity_end", "hello"}
		if got := sentBy(u); !slices.Equal(got, want) {
			t.Errorf("%s: sent %v, want %v", name, got, want)
		}
	}
}

// TestModelQueueFull: a full queue reports that the model stalls, and keeps what it has.
func TestModelQueueFull(t *testing.T) {
	w := newTestWriter(false)
	stalls := 0
	w.stalled = func() { stalls++ }
	for range modelQueueMax {
		w.put(modelItem{cmd: voicenets.Nudge})
	}
	if stalls != 0 {
		t.Errorf("a queue of %d items is full", modelQueueMax)
	}
	w.put(modelItem{cmd: voicenets.Greet})
	if stalls != 1 || len(w.queue) != modelQueueMax {
		t.Errorf("%d stalls are reported, and %d items wait", stalls, len(w.queue))
	}
}

// TestModelQueueEndsToolCalls: each tool reply ends its call once, whether it is sent, dropped by a
// new connection or a withdrawal, or has no connection to go to.
func TestModelQueueEndsToolCalls(t *testing.T) {
	end := &voicenets.ToolEnd{}
	for name, do := range map[string]func(w *modelWriter){
		"sent":             func(*modelWriter) {},
		"a new connection": func(w *modelWriter) { w.use(w.link) },
		"withdrawn":        func(w *modelWriter) { w.drop(1) },
		"no connection":    func(w *modelWriter) { w.link = nil },
		"a lost one":       func(w *modelWriter) { w.link.gone = true },
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newTestWriter(false)
			w.link.conn = newMind()
			ended := 0
			w.reply = func(e *voicenets.ToolEnd) live.ToolReply {
				if e == end {
					ended++
				}
				return live.ToolReply{}
			}
			w.put(modelItem{tool: end})
			do(w)
			w.close()
			w.write(t.Context())
			if ended != 1 {
				t.Errorf("%s: the call ended %d times", name, ended)
			}
		})
	}
}

// TestModelQueueHolds: only a release by a later event than the hold opens the queue.
func TestModelQueueHolds(t *testing.T) {
	for _, test := range []struct {
		holds, releases []uint64
		open            bool
	}{
		{nil, nil, true},
		{[]uint64{1}, nil, false},
		{[]uint64{1}, []uint64{2}, true},
		{[]uint64{1, 3}, []uint64{2}, false},
		{[]uint64{1, 3}, []uint64{2, 4}, true},
		{[]uint64{3}, []uint64{3}, false},
	} {
		w := newTestWriter(false)
		w.put(modelItem{cmd: voicenets.ActivityEnd})
		for _, e := range test.holds {
			w.hold(e)
		}
		for _, e := range test.releases {
			w.release(e)
		}
		if open := len(sentBy(w)) == 1; open != test.open {
			t.Errorf("held by %v, released by %v: open %v", test.holds, test.releases, open)
		}
		for since, want := range map[uint64]bool{0: len(test.holds) > 0, 3: false} {
			if w.heldSince(since) != want {
				t.Errorf("held by %v: since %d %v", test.holds, since, !want)
			}
		}
	}
}

// refusing is a connection that refuses every message.
type refusing struct {
	*mind
	err error
}

func (r refusing) Send(context.Context, live.ClientMessage) error { r.sent.Add(1); return r.err }

// TestModelQueueRefused: a message that the connection refuses is dropped, and the next one is sent.
func TestModelQueueRefused(t *testing.T) {
	w := newTestWriter(false)
	w.log = zap.NewNop()
	conn := refusing{newMind(), errors.New("no such language")}
	w.link.conn = conn
	w.put(modelItem{text: &voicenets.Typed{Text: "a"}})
	w.put(modelItem{text: &voicenets.Typed{Text: "b"}})
	w.close()
	w.write(t.Context())
	if n := conn.sent.Load(); n != 2 || len(w.queue) != 0 {
		t.Errorf("%d messages were sent, and %d wait", n, len(w.queue))
	}
}
