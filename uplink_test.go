package voicegw

import (
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/voicenets"
)

// sentBy is what an uplink would send now, in words.
func sentBy(u *uplink) (list []string) {
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

// TestUplinkQueue: the queue keeps its order, holds what is the caller's, lets replies of tools pass, drops what a
// withdrawal forbids, and keeps text that was sent nowhere for the next connection, once.
func TestUplinkQueue(t *testing.T) {
	text := &voicenets.Typed{Text: "hello"}
	frame := &voicenets.CallerFrame{}
	for name, c := range map[string]struct {
		detection transport.Detection
		do        func(u *uplink)
		want      []string
	}{
		"in order": {do: func(u *uplink) {
			u.put(upItem{cmd: voicenets.ActivityStart})
			u.put(upItem{frame: frame})
			u.put(upItem{text: text})
		}, want: []string{"activity_start", "frame", "hello"}},
		"held": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.hold(1)
			u.put(upItem{tool: &voicenets.ToolEnd{}})
			u.put(upItem{cmd: voicenets.ActivityEnd})
		}, want: []string{"reply"}},
		"held, and nothing waits": {do: func(u *uplink) {
			u.hold(1)
			u.put(upItem{cmd: voicenets.Nudge})
			u.put(upItem{frame: frame})
		}, want: []string{"nudge"}},
		"held behind the end of a turn": {do: func(u *uplink) {
			u.put(upItem{cmd: voicenets.ActivityEnd})
			u.put(upItem{cmd: voicenets.Nudge})
			u.hold(1)
		}},
		"released": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.hold(1)
			u.put(upItem{cmd: voicenets.Greet})
			u.release(2)
		}, want: []string{"frame", "greet"}},
		"dropped": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.put(upItem{text: text})
			u.drop(1)
			u.release(2)
		}},
		"another connection": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.put(upItem{text: text})
			u.use(&link{})
			u.again(&voicenets.CallerTurn{Typed: text})
		}, want: []string{"hello"}},
		"another connection, server": {detection: transport.DetectionServer, do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.put(upItem{cmd: voicenets.Nudge})
			u.use(&link{})
		}, want: []string{"frame"}},
		"no connection": {do: func(u *uplink) {
			u.link = &link{gone: true}
			u.put(upItem{text: text})
			u.put(upItem{cmd: voicenets.Greet})
		}},
		"no connection, and then one": {do: func(u *uplink) {
			u.link = &link{gone: true}
			u.put(upItem{text: text})
			u.put(upItem{frame: frame})
			u.put(upItem{text: &voicenets.Typed{Text: "again"}})
			u.use(&link{})
		}, want: []string{"hello", "again"}},
		"not sent to its end": {do: func(u *uplink) {
			l := u.link
			u.put(upItem{text: text})
			u.put(upItem{text: &voicenets.Typed{Text: "again"}})
			it, _, _ := u.next()
			u.putBack(l, it)
		}, want: []string{"hello", "again"}},
		"not sent to its end, and dropped": {do: func(u *uplink) {
			l := u.link
			u.put(upItem{text: text})
			it, _, _ := u.next()
			u.drop(1)
			u.putBack(l, it)
			u.release(2)
			u.use(&link{})
		}},
		"another connection, held": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.put(upItem{text: text})
			u.hold(1)
			u.use(&link{})
			u.release(2)
			u.again(&voicenets.CallerTurn{Typed: text})
		}, want: []string{"hello"}},
		"another connection, held, server": {detection: transport.DetectionServer, do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.hold(1)
			u.use(&link{})
			u.release(2)
		}, want: []string{"frame"}},
		"told again": {do: func(u *uplink) {
			u.again(&voicenets.CallerTurn{Frames: []*voicenets.CallerFrame{frame, frame}})
		}, want: []string{"activity_start", "frame", "frame", "activity_end"}},
		"told again, open, and held amid": {do: func(u *uplink) {
			u.again(&voicenets.CallerTurn{Open: true, Frames: []*voicenets.CallerFrame{frame, frame}})
			_, _, _ = u.next()
			_, _, _ = u.next()
			u.hold(1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUplink(&call{cfg: &Config{}, hello: transport.Hello{Detection: c.detection}})
			u.link = &link{}
			c.do(u)
			got := sentBy(u)
			if len(got) != len(c.want) {
				t.Fatalf("sent %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("sent %v, want %v", got, c.want)
				}
			}
		})
	}
}
