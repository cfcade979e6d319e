package rtc

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// TestInbox keeps the order, drops sound beyond its limit, and lets acknowledgements in when nobody
// else gets in.
func TestInbox(t *testing.T) {
	b := newInbox()
	for i := range 100 {
		b.putAudio([]int16{int16(i)})
	}
	if b.dropped != 100-inboxAudioMax {
		t.Errorf("%d frames were dropped", b.dropped)
	}
	for b.put(&transport.Event{Kind: transport.EventMute}, inboxEvents) {
	}
	if !b.put(&transport.Event{Kind: transport.EventAck, PlayedMS: 7}, inboxMax) {
		t.Error("there is no room for an acknowledgement")
	}
	var ev transport.Event
	for i := range inboxMax - 7 {
		if err := b.get(context.Background(), &ev); err != nil {
			t.Fatal(err)
		}
		if i < inboxAudioMax && (ev.Kind != transport.EventAudio || ev.PCM[0] != int16(i)) {
			t.Errorf("event %d is %+v", i, ev)
		}
	}
	if ev.Kind != transport.EventAck || ev.PlayedMS != 7 {
		t.Errorf("the last is %+v", ev)
	}
}

// TestInboxWaits holds up the data channel, until there is room or the call is over.
func TestInboxWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newInbox()
		for b.put(&transport.Event{Kind: transport.EventMute}, inboxEvents) {
		}
		done := make(chan bool, 2)
		go func() { done <- b.wait(&transport.Event{Kind: transport.EventBye}) }()
		synctest.Wait()
		var ev transport.Event
		if err := b.get(context.Background(), &ev); err != nil {
			t.Fatal(err)
		}
		if !<-done {
			t.Error("the event was not taken")
		}
		go func() { done <- b.wait(&transport.Event{Kind: transport.EventBye}) }()
		synctest.Wait()
		b.end(transport.End(transport.ReasonDone, "", nil))
		if <-done {
			t.Error("the event was taken after the end")
		}
		var e *transport.Ended
		if err := b.get(context.Background(), &ev); !errors.As(err, &e) || e.Reason != transport.ReasonDone {
			t.Errorf("after the end: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := newInbox().get(ctx, &ev); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of nothing: %v", err)
		}
	})
}

// TestConceal papers over three packets and keeps silent for more, and for what is far too much not
// even that.
func TestConceal(t *testing.T) {
	c := concealer{}
	var out [][]int16
	emit := func(pcm []int16) { out = append(out, append([]int16(nil), pcm...)) }
	if c.fill(3, emit); out != nil {
		t.Error("there was sound before there was any")
	}
	c.heard([]int16{1000, 2000, 3000})
	c.fill(100, emit)
	if len(out) != concealMax {
		t.Fatalf("%d packets", len(out))
	}
	if out[0][0] != 3000 || out[0][2] >= 1000 || out[1][0] >= out[0][2]+100 || out[2][2] == 0 {
		t.Errorf("the sound goes on as %v", out[:3])
	}
	for _, pcm := range out[concealFrames:] {
		if pcm[0] != 0 || pcm[2] != 0 || len(pcm) != 3 {
			t.Errorf("then comes %v", pcm)
		}
	}
}

// TestKeysOnce finds each key once, and remembers eight.
func TestKeysOnce(t *testing.T) {
	k := keys{}
	for i := range uint32(20) {
		for range 3 {
			k.press(i*100, []byte{byte(i % 16), 0, 0, 0})
			if _, again := k.press(i*100, []byte{byte(i % 16), 0x80, 0, 0}); again {
				t.Errorf("key %d came twice", i)
			}
		}
	}
	for _, bad := range [][]byte{nil, {1, 2, 3}, {16, 0, 0, 0}, {255, 0, 0, 0}} {
		if d, ok := k.press(5, bad); ok {
			t.Errorf("%v is %q", bad, d)
		}
	}
}

// TestPlayout counts what is heard, a fixed delay behind what is sent.
func TestPlayout(t *testing.T) {
	var acks []transport.Event
	p := newPlayout(16000, 60*time.Millisecond, func(ev *transport.Event) { acks = append(acks, *ev) })
	pcm, frame := make([]int16, 320), []int16{5, 6}
	for range 12 {
		if err := p.push(1, frame); err != nil {
			t.Fatal(err)
		}
	}
	_ = p.pushMark(1, "1:end")
	for i := range 20 {
		speaks := p.step(pcm)
		if speaks != (i < 12) || speaks != (pcm[0] == 5) || pcm[2] != 0 {
			t.Errorf("step %d: %v, %v", i, speaks, pcm[:3])
		}
	}
	want := []transport.Event{{Generation: 1, PlayedMS: 40}, {Generation: 1, PlayedMS: 140},
		{Generation: 1, PlayedMS: 240, Mark: "1:end"}}
	if len(acks) != len(want) {
		t.Fatalf("acknowledged %+v", acks)
	}
	for i, a := range acks {
		if a.Generation != want[i].Generation || a.PlayedMS != want[i].PlayedMS || a.Mark != want[i].Mark || a.Cleared {
			t.Errorf("acknowledgement %d is %+v", i, a)
		}
	}
	if err := p.push(1, make([]int16, 321)); err == nil {
		t.Error("a frame of more than 20 ms was taken")
	}
}

// TestClear drops what was not sent; what was sent counts, and what was marked and not heard is not
// told any more.
func TestClear(t *testing.T) {
	var acks []transport.Event
	p := newPlayout(16000, 60*time.Millisecond, func(ev *transport.Event) { acks = append(acks, *ev) })
	pcm := make([]int16, 320)
	for range 4 {
		_ = p.push(7, pcm)
	}
	_ = p.pushMark(7, "7:a")
	_ = p.push(7, pcm)
	for range 4 {
		p.step(pcm)
	}
	p.clear(7)
	for range 20 {
		if p.step(pcm) {
			t.Error("something was left")
		}
	}
	if last := acks[len(acks)-1]; len(acks) > 2 || !last.Cleared || last.PlayedMS != 80 || last.Generation != 7 {
		t.Errorf("acknowledged %+v", acks)
	}
	_ = p.push(7, pcm)
	for range 10 {
		p.step(pcm)
	}
	if last := acks[len(acks)-1]; last.PlayedMS != 100 {
		t.Errorf("what went on is acknowledged as %+v", last)
	}
	p.clear(3)
	if last := acks[len(acks)-1]; last.PlayedMS != 0 || !last.Cleared || last.Generation != 3 {
		t.Errorf("a clear of what never was: %+v", last)
	}
}
