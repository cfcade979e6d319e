package rtc

import (
	"errors"
	"fmt"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// newPeer answers an offer. The peer must be closed; its answer is what pc.LocalDescription returns, complete.
func (e *engine) newPeer(c Config, o *offer, h transport.Hello, down Codec) (*peer, error) {
	pc, err := e.api.NewPeerConnection(e.cfg)
	if err != nil {
		return nil, fmt.Errorf("transport/rtc: answer: %w", err)
	}
	p := &peer{cfg: c, hello: h, pc: pc, inbox: newInbox(), connected: make(chan struct{}), done: make(chan struct{}),
		closed: make(chan struct{})}
	p.ways = newWays(c)
	p.channel = newChannel(o.data, p.done)
	p.ear = newEar(p.inbox, o.kinds, p.ready.Load)
	p.playout = newPlayout(down.rateHz(), c.PlayoutDelay, func(ack *transport.Event) { p.inbox.put(ack, inboxMax) })
	if err := p.wire(o, down); err != nil {
		_ = pc.GracefulClose()
		return nil, err
	}
	p.deadline = time.AfterFunc(c.ConnectTimeout, func() {
		p.fail(ended(transport.ReasonPeerLost, fmt.Sprintf("No way for sound was found within %v.", c.ConnectTimeout), nil))
	})
	return p, nil
}

// wire connects the peer with the library and answers.
func (p *peer) wire(o *offer, down Codec) error {
	track, err := webrtc.NewTrackLocalStaticRTP(down.capability(), "reply", "voicegw")
	if err != nil {
		return fmt.Errorf("transport/rtc: answer: %w", err)
	}
	if p.speaker, err = newSpeaker(down, p.playout, track); err != nil {
		return err
	}
	sender, err := p.pc.AddTrack(track)
	if err != nil {
		p.speaker.encoder.close()
		return fmt.Errorf("transport/rtc: answer: %w", err)
	}
	p.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) { p.state(s, sender) })
	p.pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { p.listen(t) })
	p.pc.OnDataChannel(p.offered)
	text := o.restarted(o.ufrag, o.pwd) // without candidates, to which nothing is sent
	if p.cfg.FullICE {
		text = p.ways.filter(o.text)
	}
	if err := p.answer(text); err != nil {
		p.speaker.encoder.close()
		return err
	}
	return nil
}

// gatherMax is how long addresses are looked for. Without FullICE it takes no time.
const gatherMax = 3 * time.Second

// answer answers an offer, the first or one that restarts ICE.
func (p *peer) answer(text string) error {
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: text}); err != nil {
		return refused(406, "the offer cannot be answered")
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return refused(406, "no answer to the offer can be made")
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return refused(406, "the answer to the offer cannot be used")
	}
	timer := time.NewTimer(gatherMax)
	defer timer.Stop()
	select {
	case <-gathered:
	case <-timer.C:
	}
	return nil
}

// state follows the connection. The library calls it.
func (p *peer) state(s webrtc.PeerConnectionState, sender *webrtc.RTPSender) {
	switch s {
	case webrtc.PeerConnectionStateConnected:
		p.connect.Do(func() { p.stand(sender) })
	case webrtc.PeerConnectionStateFailed:
		p.fail(ended(transport.ReasonPeerLost, "", errors.New("no packet came for too long")))
	case webrtc.PeerConnectionStateClosed:
		p.fail(ended(transport.ReasonCallerHungUp, "", nil))
	}
}

// stand begins to speak. Its goroutines end when done is closed and the connection is.
func (p *peer) stand(sender *webrtc.RTPSender) {
	p.deadline.Stop()
	close(p.connected)
	p.task(func() {
		if err := p.speaker.run(p.done); err != nil {
			p.fail(ended(transport.ReasonPeerLost, "", err))
		}
	})
	p.task(func() { p.reports(sender) })
}

// task runs f in a goroutine that finish waits for.
func (p *peer) task(f func()) {
	if p.tasks.begin() {
		go func() {
			defer p.tasks.wg.Done()
			defer p.survive()
			f()
		}()
	}
}

// survive ends the call, and no other one, when the far end found a way to make a decoder panic.
func (p *peer) survive() {
	if v := recover(); v != nil {
		p.cfg.Log.Error("panic in a call", zap.Any("panic", v), zap.Stack("stack"))
		p.fail(ended(transport.ReasonInternal, "", fmt.Errorf("panic: %v", v)))
	}
}

// listen hears a track, in the goroutine that the library made for it. A call has one.
func (p *peer) listen(t *webrtc.TrackRemote) {
	if t.Kind() != webrtc.RTPCodecTypeAudio || !p.tasks.begin() {
		return
	}
	defer p.tasks.wg.Done()
	defer p.survive()
	if !p.ear.mine.CompareAndSwap(false, true) {
		return
	}
	err := p.ear.run(t, func(b []byte) (int, error) {
		n, _, err := t.Read(b)
		return n, err
	})
	p.cfg.Log.Debug("the caller's track ended", zap.Error(err))
}

// reports reads what the far end says of what it received: the round trip is a part of how late sound is heard.
func (p *peer) reports(sender *webrtc.RTPSender) {
	for {
		packets, _, err := sender.ReadRTCP()
		if err != nil {
			return
		}
		now := time.Now()
		for _, packet := range packets {
			if r, ok := packet.(*rtcp.ReceiverReport); ok {
				p.report(now, r.Reports)
			}
		}
	}
}

// roundTripMax is the longest round trip that is believed.
const roundTripMax = 2 * time.Second

// report takes the reports of one packet (RFC 3550 section 6.4.1).
func (p *peer) report(now time.Time, reports []rtcp.ReceptionReport) {
	for _, r := range reports {
		if r.LastSenderReport == 0 {
			continue
		}
		trip := time.Duration(ntpMiddle(now)-r.LastSenderReport-r.Delay) * time.Second >> 16
		if trip >= 0 && trip <= roundTripMax {
			p.playout.setDelay(p.cfg.PlayoutDelay + trip/2)
		}
	}
}

// ntpMiddle is the middle 32 bits of a time in NTP's format.
func ntpMiddle(t time.Time) uint32 {
	const from1900 = 2208988800
	return uint32(uint64(t.Unix()+from1900)<<16) | uint32(uint64(t.Nanosecond())<<16/1e9)
}

// offered takes a data channel of the far end. The library calls it for one after the other and makes the next when it
// has returned. Each channel costs 64 KiB, so one too many ends the call, and no other is made until it has.
func (p *peer) offered(dc *webrtc.DataChannel) {
	if p.channels++; p.channels > ChannelsMax {
		p.fail(ended(transport.ReasonLimit, fmt.Sprintf("A call opens at most %d data channels.", ChannelsMax), nil))
		<-p.done
		return
	}
	if dc.Label() != ChannelLabel || !dc.Ordered() || dc.MaxRetransmits() != nil || dc.MaxPacketLifeTime() != nil {
		p.ignored.Add(1)
		dc.OnOpen(func() { _ = dc.Close() })
		return
	}
	dc.OnOpen(func() { p.channel.use(dc) })
	dc.OnMessage(func(m webrtc.DataChannelMessage) {
		defer p.survive()
		p.event(m)
	})
}

// event takes one message of the data channel. While too many wait it waits too, and so does the far end.
func (p *peer) event(m webrtc.DataChannelMessage) {
	if !m.IsString {
		p.fail(ended(transport.ReasonBadJSON, "The data channel carries events as text; a binary message came.", nil))
		return
	}
	var ev transport.Event
	switch err := ws.DecodeEvent(m.Data, &ev); {
	case ws.IsUnknown(err), err == nil && ev.Kind == transport.EventAck:
		p.ignored.Add(1) // the door knows what was played: it sends in time
	case ws.IsHello(err):
		p.fail(ended(transport.ReasonSecondHello, "", nil))
	case err != nil:
		p.fail(ended(transport.ReasonBadJSON, err.Error(), err))
	default:
		p.inbox.wait(&ev)
	}
}
