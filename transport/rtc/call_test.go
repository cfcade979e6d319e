package rtc_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/pion/rtp"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
)

// other sends a prepared packet in the place of one of sound.
func (c *caller) other(p rtp.Packet, place *rtp.Packet) {
	p.Version, p.SequenceNumber = 2, place.SequenceNumber
	if p.Timestamp == 0 {
		p.Timestamp = place.Timestamp
	}
	c.track.write(&p)
}

// hears wants what was heard from a sample on to be like ref.
func (c *caller) hears(from int, ref []int16, want float64) {
	c.t.Helper()
	got := c.sound(from)
	lag, corr := audiotest.Align(ref, got)
	holes := audiotest.Holes(ref, audiotest.Shift(got, lag, len(ref)), 16000)
	c.t.Logf("heard %.4f alike with %d holes", corr, holes)
	if corr < want || holes > 0 {
		c.t.Errorf("heard %.3f alike with %d holes, want %.2f and none\n%s", corr, holes, want, c.story())
	}
}

// TestTalk says something and hears it again.
func TestTalk(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := w.call(manner{})
		t.Logf("connected after %v", c.joined)
		c.say(speech("question"))
		start := c.turn(transport.StateStart)
		end := c.turn(transport.StateEnd)
		if end.TurnEnd != transport.TurnComplete || end.Generation != start.Generation {
			t.Errorf("the reply ended as %+v", end.Message)
		}
		c.hears(start.at, speech("question"), 0.97)
	})
}

// reply starts a reply of eight seconds and returns when a part of it was heard.
func (c *caller) reply(after time.Duration) said {
	c.t.Helper()
	c.say(speech("long"))
	start := c.turn(transport.StateStart)
	c.listenFor(after)
	return start
}

// TestBargeIn speaks over a reply, which ends.
func TestBargeIn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := w.call(manner{})
		start := c.reply(2 * time.Second)
		c.mu.Lock()
		over := c.length
		c.mu.Unlock()
		c.say(speech("over"))
		if end := c.turn(transport.StateEnd); end.TurnEnd != transport.TurnInterrupted || end.Generation != start.Generation {
			t.Errorf("the reply ended as %+v", end.Message)
		}
		next := c.turn(transport.StateStart)
		c.turn(transport.StateEnd)
		c.hears(next.at, speech("over"), 0.97)
		// What was heard after the interruption is not what was still to come of the reply.
		rest := speech("long")
		played := (over - start.at) + 16000*8/10
		_, like := audiotest.Align(rest[played:], c.sound(over+16000*8/10))
		if like > 0.2 {
			t.Errorf("after the interruption the rest of the reply was heard by %.2f", like)
		}
	})
}

// TestCough coughs over a reply, which goes on where it stopped.
func TestCough(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := w.call(manner{})
		start := c.reply(2 * time.Second)
		c.say(speech("cough"))
		c.turn(transport.StatePause)
		c.turn(transport.StateResume)
		if end := c.turn(transport.StateEnd); end.TurnEnd != transport.TurnComplete {
			t.Errorf("the reply ended as %+v", end.Message)
		}
		c.wholeWithPause(start.at, speech("long"))
	})
}

// wholeWithPause wants what was heard from a sample on to be like ref, interrupted once: there is a
// place at which it was cut, and the parts before and behind join to the whole.
func (c *caller) wholeWithPause(from int, ref []int16) {
	c.t.Helper()
	heard := c.sound(from)
	before, like1 := audiotest.Align(ref[:len(ref)/8], heard)
	behind, like2 := audiotest.Align(ref[len(ref)*7/8:], heard)
	behind -= len(ref) * 7 / 8
	pause := behind - before
	if like1 < 0.95 || like2 < 0.95 || pause < 16000/5 {
		c.t.Fatalf("the ends are %.3f and %.3f alike, %d samples apart\n%s", like1, like2, pause, c.story())
	}
	best := joined(ref, audiotest.Shift(heard, before, len(ref)), audiotest.Shift(heard, behind, len(ref)))
	c.t.Logf("a pause of %d ms, beside it %.4f alike", pause/16, best)
	if best < 0.97 {
		c.t.Errorf("without the pause the reply is %.3f alike\n%s", best, c.story())
	}
}

// joined is the best correlation with ref of what begins as a and goes on as b, over all places to
// change.
func joined(ref, a, b []int16) (best float64) {
	var rr, ra, aa, rb, bb float64 // sums of products: with a up to the place, with b from there
	for i := range ref {
		rr += float64(ref[i]) * float64(ref[i])
		rb += float64(ref[i]) * float64(b[i])
		bb += float64(b[i]) * float64(b[i])
	}
	for i := range ref {
		ra += float64(ref[i]) * float64(a[i])
		aa += float64(a[i]) * float64(a[i])
		rb -= float64(ref[i]) * float64(b[i])
		bb -= float64(b[i]) * float64(b[i])
		best = max(best, (ra+rb)/math.Sqrt(rr*(aa+bb)+1))
	}
	return best
}

// TestLeaves ends calls in every way there is.
func TestLeaves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{DisconnectTimeout: 4 * time.Second})
	for name, leave := range map[string]func(*caller){
		"bye":    func(c *caller) { c.send(transport.Event{Kind: transport.EventBye}) },
		"close":  func(c *caller) { c.hangUp() },
		"delete": func(c *caller) { w.request(http.MethodDelete, c.location, "") },
		"vanish": func(c *caller) { c.vanish() },
	} {
		c := w.call(manner{})
		w.eventually("a call runs", func() bool { return w.gw.Calls() == 1 })
		leave(c)
		began := time.Now()
		w.eventually(name+" ends the call", func() bool { return w.gw.Calls() == 0 })
		if name == "delete" {
			if bye := c.kind(transport.MessageBye); bye.Reason != transport.ReasonCallerHungUp {
				t.Errorf("DELETE ended the call by %s", bye.Reason)
			}
			w.eventually("the session is gone", func() bool {
				resp, _ := w.request(http.MethodDelete, c.location, "")
				return resp.StatusCode == http.StatusNotFound
			})
		}
		t.Logf("%s: over after %v", name, time.Since(began))
	}
}

// TestGoingAway tells callers when the gateway closes, and takes no more.
func TestGoingAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{})
	c := w.call(manner{})
	_ = w.gw.Close()
	if bye := c.kind(transport.MessageBye); bye.Reason != transport.ReasonGoingAway {
		t.Errorf("the call ended by %s", bye.Reason)
	}
	resp, _ := w.request(http.MethodPost, w.callURL(), w.prepare(manner{}).offer(nil), "Content-Type", "application/sdp")
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a call when closed: %d", resp.StatusCode)
	}
}

// TestEndpointCloses ends calls, those too that are not connected.
func TestEndpointCloses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{})
	c := w.call(manner{})
	w.request(http.MethodPost, w.callURL(), w.prepare(manner{}).offer(nil), "Content-Type", "application/sdp")
	if err := w.endpoint.Close(); err != nil {
		t.Error(err)
	}
	if bye := c.kind(transport.MessageBye); bye.Reason != transport.ReasonGoingAway {
		t.Errorf("the call ended by %s", bye.Reason)
	}
	if n := w.gw.Calls(); n != 0 {
		t.Errorf("%d calls run", n)
	}
	resp, _ := w.request(http.MethodPost, w.callURL(), w.prepare(manner{}).offer(nil), "Content-Type", "application/sdp")
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("a call when closed: %d", resp.StatusCode)
	}
}

// TestNeverConnects ends the call of somebody who sets it up and does not come.
func TestNeverConnects(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{ConnectTimeout: 500 * time.Millisecond,
		DisconnectTimeout: time.Hour})
	w.request(http.MethodPost, w.callURL(), w.prepare(manner{}).offer(nil), "Content-Type", "application/sdp")
	w.eventually("the call begins", func() bool { return w.gw.Calls() == 1 })
	w.eventually("the call is over", func() bool { return w.gw.Calls() == 0 })
}

// TestNoData hears and is heard without a data channel.
func TestNoData(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		c := w.call(manner{noData: true})
		c.say(speech("hello"))
		c.listenFor(6 * time.Second)
		c.hears(0, speech("hello"), 0.95)
	})
}
