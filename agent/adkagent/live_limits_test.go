package adkagent

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	adk "google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// TestLiveSendIsBounded sends to a call that nobody runs: the events are not read.
func TestLiveSendIsBounded(t *testing.T) {
	inBubble(t, livePlan{}, func(w *liveWorld) {
		sess, _, err := w.runner.RunLive(context.Background(), "user", "s", w.run)
		if err != nil {
			t.Fatal(err)
		}
		took := func(req adk.LiveRequest) (time.Duration, error) {
			began := time.Now()
			err := sess.Send(req)
			return time.Since(began), err
		}
		second := adk.LiveRequest{RealtimeInput: blob(make([]int16, 16000))}
		for range 10 {
			if d, err := took(second); d > 0 || err != nil {
				t.Errorf("a second of audio took %v, %v", d, err)
			}
		}
		if d, err := took(second); d != liveSendWait || err != nil || w.agent.Dropped().Input != time.Second {
			t.Errorf("one more took %v, %v, and dropped %v", d, err, w.agent.Dropped().Input)
		}
		for range controlsMax {
			if d, err := took(typed("Hello.")); d > 0 || err != nil {
				t.Fatalf("a text took %v, %v", d, err)
			}
		}
		if d, err := took(typed("Hello.")); d != liveSendWait || !errors.Is(err, ErrLiveFull) {
			t.Errorf("one more took %v, %v", d, err)
		}
		go func() {
			time.Sleep(liveSendWait / 2)
			_ = sess.Close()
		}()
		if d, err := took(typed("Hello.")); d != liveSendWait/2 || !errors.Is(err, ErrLiveClosed) {
			t.Errorf("Close frees a Send after %v, %v", d, err)
		}
	})
}

// TestLiveSendWhileTheModelIsAway sends for ten seconds to a model that does not accept the setup. ADK's
// flow blocks for good.
func TestLiveSendWhileTheModelIsAway(t *testing.T) {
	inBubble(t, livePlan{model: sim.Config{Faults: sim.Faults{NoSetupComplete: true}}}, func(w *liveWorld) {
		k := w.open(context.Background(), "s", nil)
		var longest time.Duration
		for range 500 {
			began := time.Now()
			_ = k.sess.Send(adk.LiveRequest{RealtimeInput: blob(make([]int16, 320))})
			longest = max(longest, time.Since(began))
			time.Sleep(20 * time.Millisecond)
		}
		k.hangUp()
		if longest > 0 {
			t.Errorf("a Send took %v", longest)
		}
	})
}

// TestLiveSendRefuses names what cannot be sent.
func TestLiveSendRefuses(t *testing.T) {
	audio := func(kind string, n int) adk.LiveRequest {
		return adk.LiveRequest{RealtimeInput: &genai.Blob{MIMEType: kind, Data: make([]byte, n)}}
	}
	parts := func(p ...*genai.Part) adk.LiveRequest {
		return adk.LiveRequest{Content: &genai.Content{Parts: p}}
	}
	inBubble(t, livePlan{}, func(w *liveWorld) {
		sess, _, err := w.runner.RunLive(context.Background(), "user", "s", w.run)
		if err != nil {
			t.Fatal(err)
		}
		for want, req := range map[string]adk.LiveRequest{
			"is empty":           {},
			"is a string":        {RealtimeInput: "sound"},
			"activity start":     {RealtimeInput: &genai.ActivityStart{}},
			"image/png":          audio("image/png", 2),
			"rate=8000":          audio("audio/pcm;rate=8000", 2),
			`"audio/pcm;rate"`:   audio("audio/pcm;rate", 2),
			"3 bytes":            audio("audio/pcm", 3),
			"320002 bytes":       audio("", 320002),
			"0 characters":       parts(),
			"4001 characters":    typed(strings.Repeat("é", 4001)),
			"function responses": parts(&genai.Part{InlineData: &genai.Blob{}}),
			"two requests": parts(&genai.Part{Text: "x"}, &genai.Part{
				FunctionResponse: &genai.FunctionResponse{ID: "1"}}),
		} {
			if err := sess.Send(req); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("want an error with %q, got %v", want, err)
			}
		}
		_ = sess.Close()
	})
}

// TestLiveSlowConsumer takes no event for forty seconds. The call goes on meanwhile; what did not fit is
// counted; the end of the reply is not lost.
func TestLiveSlowConsumer(t *testing.T) {
	var reply []int16
	for len(reply) < 30*24000 {
		reply = append(reply, longReply()...)
	}
	inBubble(t, livePlan{model: sim.Config{Greeting: reply, GreetingText: "A long story."}, run: withTranscripts()},
		func(w *liveWorld) {
			slept := false
			k := w.open(context.Background(), "s", func(ev *session.Event) {
				if !slept && inline(ev) != nil {
					slept = true
					time.Sleep(40 * time.Second)
				}
			})
			k.send(typed("Tell me a story."))
			end := k.until("the end of the turn", turnEnded)
			k.hangUp()
			heard := time.Duration(len(sound(k.all()))) * time.Second / liveOutputHz
			total := time.Duration(len(reply)) * time.Second / liveOutputHz
			if d := w.agent.Dropped().Reply; heard > 10*time.Second+200*time.Millisecond || heard+d != total {
				t.Errorf("heard %v, dropped %v of %v", heard, d, total)
			}
			if at := end.CustomMetadata["voicegw"].(map[string]any)["heard_ms"]; end.Interrupted || at != total.Milliseconds() {
				t.Errorf("the reply ended %s, played %v ms: the slow consumer held the call back", eventLine(end), at)
			}
		})
}

// TestLiveConsumerThatStops ends the call of a consumer that leaves too many events.
func TestLiveConsumerThatStops(t *testing.T) {
	inBubble(t, livePlan{run: withTranscripts()}, func(w *liveWorld) {
		resume := make(chan struct{})
		k := w.open(context.Background(), "s", func(*session.Event) { <-resume })
		synctest.Wait()
		s := w.agent.Gateway().Sessions()[0]
		for range outNotesMax + 10 {
			_ = s.Protect(true) // two notes
			_ = s.Protect(false)
			synctest.Wait()
		}
		if n := w.agent.Dropped().Notes; n < outNotesMax {
			t.Errorf("%d partial events were dropped", n)
		}
		close(resume)
		k.hangUp()
		if len(k.errs) > 0 || len(k.all()) > outNotesMax+10 {
			t.Errorf("%d events, %v", len(k.all()), k.errs)
		}
	})
	c := &liveCall{live: &Live{}, out: outbox{wake: make(chan struct{}, 1)}}
	for range outEventsMax {
		if err := c.keep(outItem{event: &session.Event{}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.keep(outItem{event: &session.Event{}}); !errors.Is(err, transport.ErrStalled) {
		t.Errorf("one event too many: %v", err)
	}
}

// TestLiveLateAudio drops audio of a reply that has ended.
func TestLiveLateAudio(t *testing.T) {
	c := &liveCall{live: &Live{}, reply: 2, wake: make(chan struct{}, 1), out: outbox{wake: make(chan struct{}, 1)}}
	if err := c.SendAudio(context.Background(), 1, make([]int16, 480)); err != nil || len(c.out.items) > 0 {
		t.Errorf("%v, %d events", err, len(c.out.items))
	}
	if d := c.live.Dropped().Late; d != 20*time.Millisecond {
		t.Errorf("dropped %v", d)
	}
}

// TestPlayout plays frames by the clock.
func TestPlayout(t *testing.T) {
	at := func(ms int) time.Time { return time.Unix(0, 0).Add(time.Duration(ms) * time.Millisecond) }
	p := playout{delay: 60 * time.Millisecond}
	for range 10 {
		p.sent(at(0), 1)
	}
	if d, ok := p.wait(at(0)); !ok || d != 160*time.Millisecond {
		t.Errorf("wait %v, %v", d, ok)
	}
	check := func(ms int, want ...playoutAck) {
		t.Helper()
		for _, w := range want {
			if a, ok := p.next(at(ms)); !ok || a != w {
				t.Errorf("at %d ms: %+v, %v; want %+v", ms, a, ok, w)
			}
		}
		if a, ok := p.next(at(ms)); ok {
			t.Errorf("at %d ms: %+v too many", ms, a)
		}
	}
	check(159)
	check(160, playoutAck{1, 100, false})
	p.clear(at(219), 1)
	check(219, playoutAck{1, 140, true})
	p.sent(at(300), 1) // it goes on
	p.sent(at(300), 2)
	check(320, playoutAck{1, 160, false})
	check(340, playoutAck{2, 20, false})
	p.clear(at(340), 3) // nothing of it was sent
	check(340, playoutAck{3, 0, true})
	if _, ok := p.wait(at(340)); ok {
		t.Error("waits for nothing")
	}
}

// FuzzLiveBlob sends blobs: they are refused, or they come out of Recv whole.
func FuzzLiveBlob(f *testing.F) {
	f.Add("audio/pcm;rate=16000", []byte{1, 2, 3, 4})
	f.Add("", make([]byte, 1282))
	f.Add("audio/pcm;rate=8000", []byte{1})
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		c := &liveCall{live: &Live{}, ic: nil, wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
		if c.blob(&genai.Blob{MIMEType: kind, Data: data}) != nil {
			return
		}
		var ev transport.Event
		got := 0
		for len(c.inbox) > 0 {
			if ok, _, _ := c.take(&ev); !ok || ev.Kind != transport.EventAudio || len(ev.PCM) > liveChunk {
				t.Fatalf("%v: %d samples", ev.Kind, len(ev.PCM))
			}
			got += len(ev.PCM)
		}
		if got != len(data)/2 || c.samples != 0 {
			t.Errorf("%d samples of %d bytes, %d left", got, len(data), c.samples)
		}
	})
}

// TestLiveClearDropsWaitingAudio drops what a slow consumer has not taken when the reply is interrupted.
func TestLiveClearDropsWaitingAudio(t *testing.T) {
	inBubble(t, livePlan{}, func(w *liveWorld) {
		ic := &listener{Context: context.Background(), asked: map[any]bool{}}
		c := &liveCall{live: w.agent, ic: ic, reply: 1, wake: make(chan struct{}, 1),
			out: outbox{wake: make(chan struct{}, 1)}}
		for range 20 {
			if err := c.SendAudio(context.Background(), 1, make([]int16, 480)); err != nil {
				t.Fatal(err)
			}
		}
		m := transport.Message{Kind: transport.MessageClear, Generation: 1}
		if err := c.Send(context.Background(), &m); err != nil {
			t.Fatal(err)
		}
		if it, ok := c.next(); !ok || !it.event.Interrupted || len(c.out.items) > 0 || c.out.bytes > 0 {
			t.Errorf("%s comes first, %d events and %d bytes wait", eventLine(it.event), len(c.out.items), c.out.bytes)
		}
	})
}
