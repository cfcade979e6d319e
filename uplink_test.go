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
		case it.recap != "":
			list = append(list, "recap")
		default:
			list = append(list, it.cmd.String())
		}
	}
}

// TestUplinkQueue: the queue holds what is the caller's, lets the rest pass, drops what a withdrawal forbids, and keeps
// text that is held for the next connection, once.
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
			u.hold()
			u.put(upItem{cmd: voicenets.Nudge})
			u.put(upItem{cmd: voicenets.ActivityEnd})
		}, want: []string{"nudge"}},
		"released": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.hold()
			u.put(upItem{cmd: voicenets.Greet})
			u.release()
		}, want: []string{"frame", "greet"}},
		"dropped": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.put(upItem{text: text})
			u.drop()
			u.release()
		}},
		"another connection": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.put(upItem{text: text})
			u.use(nil)
		}},
		"another connection, held": {do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.put(upItem{text: text})
			u.hold()
			u.use(nil)
			u.release()
			u.again(&voicenets.CallerTurn{Typed: text})
		}, want: []string{"hello"}},
		"another connection, held, server": {detection: transport.DetectionServer, do: func(u *uplink) {
			u.put(upItem{frame: frame})
			u.hold()
			u.use(nil)
			u.release()
		}, want: []string{"frame"}},
		"told again": {do: func(u *uplink) {
			u.again(&voicenets.CallerTurn{Frames: []*voicenets.CallerFrame{frame, frame}})
		}, want: []string{"activity_start", "frame", "frame", "activity_end"}},
		"told again, open, and held amid": {do: func(u *uplink) {
			u.again(&voicenets.CallerTurn{Open: true, Frames: []*voicenets.CallerFrame{frame, frame}})
			_, _, _ = u.next()
			_, _, _ = u.next()
			u.hold()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUplink(&call{cfg: &Config{}, hello: transport.Hello{Detection: c.detection}})
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
