package rtc_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
)

// TestHello fills in what the endpoint knows, and takes the settings from header or query.
func TestHello(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	_, p := w.accept(l, manner{token: "secret", hello: `{"type":"hello","version":1,"input_rate":1,"output_rate":2,` +
		`"language":"de-DE","params":{"customer":"12"},"token":"other","client":"test"}`})
	h := p.Hello()
	if h.InputRateHz != 16000 || h.OutputRateHz != 16000 || h.Endpoint != "webrtc" || h.Remote != "127.0.0.1" ||
		h.Token != "secret" || h.Language != "de-DE" || h.Params["customer"] != "12" || h.Client != "test" {
		t.Errorf("hello %+v", h)
	}
}

// TestEvents brings every event of the data channel, and ends the call for what is none.
func TestEvents(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	c, p := w.accept(l, manner{})
	c.send(transport.Event{Kind: transport.EventAck, Generation: 1, PlayedMS: 20})
	if err := c.dc.SendText(`{"type":"of tomorrow"}`); err != nil {
		t.Fatal(err)
	}
	for _, ev := range []transport.Event{
		{Kind: transport.EventMute, On: true}, {Kind: transport.EventText, Text: "hi"},
		{Kind: transport.EventDTMF, Text: "12#"}, {Kind: transport.EventToolResult, ID: "t", Text: "1"},
		{Kind: transport.EventTalk, On: true}, {Kind: transport.EventHold, On: true},
		{Kind: transport.EventConsent, On: true}, {Kind: transport.EventBye, Text: "done"},
	} {
		c.send(ev)
		got := next(t, p, ev.Kind)
		got.PCM = nil
		if got.On != ev.On || got.Text != ev.Text || got.ID != ev.ID {
			t.Errorf("%+v came as %+v", ev, got)
		}
	}
}

// TestBadEvents end the call, and say why.
func TestBadEvents(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]transport.Reason{
		`{"type":"hello","version":1,"input_rate":16000,"output_rate":16000}`: transport.ReasonSecondHello,
		`hello?`:                     transport.ReasonBadJSON,
		`{"type":"mute","on":"yes"}`: transport.ReasonBadJSON,
		"":                           transport.ReasonBadJSON,

		strings.Repeat(" ", rtc.EventBytesMax-4) + "null": transport.ReasonBadJSON,
		strings.Repeat(" ", rtc.EventBytesMax-3) + "null": transport.ReasonMessageTooBig,
	} {
		l := newLines()
		w := newStage(t, l, rtc.Config{})
		c, p := w.accept(l, manner{})
		c.until("the data channel is open", func() bool { return c.open })
		send := func() error { return c.dc.SendText(text) }
		if text == "" {
			send = func() error { return c.dc.Send([]byte{1, 2}) }
		}
		if err := send(); err != nil {
			t.Fatal(err)
		}
		if e := ending(t, p); e.Reason != reason {
			t.Errorf("%.80q ended the call by %s", text, e.Reason)
		}
		if m := c.kind(transport.MessageError); m.Code != reason.String() || !m.Fatal {
			t.Errorf("%.80q was answered by %+v", text, m.Message)
		}
		c.kind(transport.MessageBye)
	}
}

// TestManyChannels: a caller who opens data channels without end is hung up on, and few of them
// were made.
func TestManyChannels(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	c, p := w.accept(l, manner{})
	c.until("the data channel is open", func() bool { return c.open })
	before := runtime.NumGoroutine()
	for i := range 500 {
		if _, err := c.pc.CreateDataChannel(fmt.Sprint(i), nil); err != nil {
			break // it was hung up
		}
	}
	if e := ending(t, p); e.Reason != transport.ReasonLimit {
		t.Errorf("the call ended by %s", e.Reason)
	}
	if n := runtime.NumGoroutine() - before; n > 4*500 {
		t.Errorf("%d goroutines more", n)
	}
	if m := c.kind(transport.MessageError); m.Code != transport.ReasonLimit.String() || !m.Fatal {
		t.Errorf("it is told %+v", m.Message)
	}
}

// TestKeys takes the keys of a phone from RTP, each once, whatever is sent again.
func TestKeys(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	c, p := w.accept(l, manner{})
	next(t, p, transport.EventAudio)
	var packets []rtp.Packet
	for i, key := range []byte{5, 5, 11, 16, 0} { // 16 is a flash: no digit
		for n := range 6 {
			end := byte(0)
			if n >= 3 {
				end = 0x80
			}
			packets = append(packets, rtp.Packet{Header: rtp.Header{PayloadType: 126, Timestamp: uint32(i+1) * 1000},
				Payload: []byte{key, end | 10, byte(n), 160}})
		}
	}
	c.change(func() { c.packets = packets })
	got := ""
	for range 4 {
		got += next(t, p, transport.EventDTMF).Text
	}
	next(t, p, transport.EventAudio)
	if got != "55#0" {
		t.Errorf("the keys are %q", got)
	}
}

// speakTo begins a turn and hands over frames of a tone.
func speakTo(t *testing.T, p transport.Peer, generation uint64, frames int) {
	t.Helper()
	ctx := context.Background()
	if err := p.Send(ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart,
		Generation: generation}); err != nil {
		t.Fatal(err)
	}
	pcm := speech("hello")[8000:]
	for i := range frames {
		if err := p.SendAudio(ctx, generation, pcm[i*320:(i+1)*320]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAcks acknowledges at the pace of sound, marks when they are reached, and clears at once.
func TestAcks(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	_, p := w.accept(l, manner{})
	if err := p.SendAudio(context.Background(), 1, make([]int16, 320)); err == nil {
		t.Error("sound of a turn that nobody announced was taken")
	}
	began := time.Now()
	speakTo(t, p, 1, 40)
	_ = p.Send(context.Background(), &transport.Message{Kind: transport.MessageMark, ID: "1:end", Generation: 1})
	last, acks := int64(0), 0
	for {
		ack := next(t, p, transport.EventAck)
		if ack.PlayedMS < last || ack.PlayedMS%20 != 0 || ack.Generation != 1 || ack.Cleared {
			t.Fatalf("after %d ms came %+v", last, ack)
		}
		last = ack.PlayedMS
		if acks++; ack.Mark == "1:end" {
			break
		}
	}
	if took := time.Since(began); last != 800 || acks < 5 || took < 700*time.Millisecond {
		t.Errorf("%d ms were acknowledged in %d events within %v", last, acks, took)
	}
	speakTo(t, p, 2, 40)
	for next(t, p, transport.EventAck).PlayedMS < 100 {
	}
	_ = p.Send(context.Background(), &transport.Message{Kind: transport.MessageClear, Generation: 2})
	ack := next(t, p, transport.EventAck)
	for !ack.Cleared {
		ack = next(t, p, transport.EventAck)
	}
	if ack.Generation != 2 || ack.PlayedMS < 100 || ack.PlayedMS >= 800 || ack.PlayedMS%20 != 0 {
		t.Errorf("the clear was answered by %+v", ack)
	}
	_ = p.Send(context.Background(), &transport.Message{Kind: transport.MessageClear, Generation: 1})
	if again := next(t, p, transport.EventAck); !again.Cleared || again.Generation != 1 || again.PlayedMS != 800 {
		t.Errorf("a clear of what was played whole was answered by %+v", again)
	}
	for i := range 3 { // the same generation goes on
		_ = p.SendAudio(context.Background(), 2, speech("hello")[i*320:(i+1)*320])
	}
	for to := ack.PlayedMS + 60; ; {
		if now := next(t, p, transport.EventAck); now.PlayedMS == to && now.Generation == 2 {
			break
		} else if now.PlayedMS > to {
			t.Fatalf("acknowledged were %d ms, sent %d", now.PlayedMS, to)
		}
	}
}

// TestQueueIsBounded refuses sound that nobody could be waiting for.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	_, p := w.accept(l, manner{})
	speakTo(t, p, 1, 0)
	for n := 0; ; n++ {
		err := p.SendAudio(context.Background(), 1, make([]int16, 320))
		if errors.Is(err, transport.ErrStalled) {
			return
		}
		if err != nil || n > 10000 {
			t.Fatalf("after %d frames: %v", n, err)
		}
	}
}

// TestStalled ends the patience with a far end that takes no events.
func TestStalled(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{WriteTimeout: 300 * time.Millisecond})
	gate := make(chan struct{})
	defer close(gate)
	c, p := w.accept(l, manner{})
	c.until("the data channel is open", func() bool { return c.open })
	c.dc.OnMessage(func(webrtc.DataChannelMessage) { <-gate })
	m := &transport.Message{Kind: transport.MessageTranscript, Who: transport.WhoModel, Text: strings.Repeat("x", 50000)}
	for range 1000 {
		if err := p.Send(context.Background(), m); errors.Is(err, transport.ErrStalled) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("the far end may hold up 50 MB")
}

// TestOpusUp understands Opus, which Go cannot make here: its packets come from a file.
func TestOpusUp(t *testing.T) {
	for _, name := range []string{"silk", "hybrid", "celt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stageInBubble(t, func(t *testing.T, w *world, l *lines) { opusUp(t, w, l, name) })
		})
	}
}

// opusUp is a call of TestOpusUp.
func opusUp(t *testing.T, w *world, l *lines, name string) {
	t.Helper()
	opus := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}
	c, p := w.accept(l, manner{codec: opus})
	var packets []rtp.Packet
	for _, b := range rtc.OpusPackets(t, name) {
		packets = append(packets, rtp.Packet{Header: rtp.Header{PayloadType: 111}, Payload: b})
	}
	c.change(func() { c.packets = packets })
	var pcm []int16
	for range len(packets) {
		pcm = append(pcm, next(t, p, transport.EventAudio).PCM...)
	}
	alike(t, speech("hello"), audio.PCM{RateHz: 16000, Samples: pcm}, 0.9)
}

// alike wants a sound to be like ref.
func alike(t *testing.T, ref []int16, heard audio.PCM, want float64) {
	t.Helper()
	_, corr := audiotest.Align(ref, heard.Samples)
	t.Logf("%.4f alike", corr)
	if corr < want {
		t.Errorf("%.3f alike, want %.2f", corr, want)
	}
}
