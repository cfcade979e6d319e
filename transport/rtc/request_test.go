package rtc

import (
	"fmt"
	"testing"
	"time"

	"github.com/pion/rtcp"
)

// TestRequest asks for missing packets when a later one comes, and once more 20 ms later.
func TestRequest(t *testing.T) {
	t.Parallel()
	for _, story := range []struct {
		name string
		come []string // "number at millisecond: numbers asked for"
	}{
		{"nothing is lost", []string{"5 at 0: []", "6 at 20: []", "7 at 40: []"}},
		{"one is lost", []string{"5 at 0: []", "7 at 40: [6]", "8 at 60: [6]", "9 at 80: []", "10 at 100: []"}},
		{"it comes", []string{"5 at 0: []", "7 at 40: [6]", "6 at 50: []", "8 at 60: []"}},
		{"others come at once", []string{"5 at 0: []", "7 at 40: [6]", "8 at 41: []", "9 at 61: [6]"}},
		{"two gaps", []string{"5 at 0: []", "7 at 40: [6]", "9 at 80: [8]", "10 at 100: [6 8]"}},
		{"several at once", []string{"5 at 0: []", "9 at 80: [6 7 8]", "11 at 90: [10]", "12 at 110: [6 7 8 10]"}},
		{"the numbers wrap", []string{"65534 at 0: []", "1 at 60: [65535 0]", "2 at 80: [65535 0]"}},
		{"as far ahead as a packet may be", []string{"5 at 0: []", "21 at 9: [6 7 8 9 10 11 12 13 14 15 16 17 18 19 20]"}},
		{"further ahead", []string{"5 at 0: []", "22 at 9: []"}},
		{"a second loss, long after the first", []string{"5 at 0: []", "7 at 40: [6]", "6 at 41: []", "8 at 60: []",
			"30000 at 70: []", "30002 at 71: [30001]", "30001 at 72: []", "60000 at 80: []", "60002 at 81: [60001]"}},
	} {
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			asked := []uint16{}
			r := newAudioReceiver(newInbox(), [128]Codec{9: G722}, func() bool { return true })
			r.request.send = func(n *rtcp.TransportLayerNack) {
				if n.MediaSSRC != 1 || len(n.Nacks) != 1 {
					t.Errorf("asked %v", n)
				}
				asked = append(asked, n.Nacks[0].PacketList()...)
			}
			for _, came := range story.come {
				var seq uint16
				var ms int
				if _, err := fmt.Sscanf(came, "%d at %d:", &seq, &ms); err != nil {
					t.Fatal(err)
				}
				asked = asked[:0]
				r.now = func() time.Time { return time.Time{}.Add(time.Duration(ms) * time.Millisecond) }
				r.take(wirePacket(9, seq, make([]byte, 160)))
				if got := fmt.Sprintf("%d at %d: %v", seq, ms, asked); got != came {
					t.Errorf("got %s, want %s", got, came)
				}
			}
		})
	}
}

// TestRequestNeedsFeedback asks nothing of a far end that has not offered to send packets again.
func TestRequestNeedsFeedback(t *testing.T) {
	t.Parallel()
	r := newAudioReceiver(newInbox(), [128]Codec{9: G722}, func() bool { return true })
	for _, seq := range []uint16{1, 3, 4} {
		r.take(wirePacket(9, seq, make([]byte, 160)))
	}
	if r.order.gaps() != 1 {
		t.Errorf("missing %b, want the next one", r.order.gaps())
	}
}
