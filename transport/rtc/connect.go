package rtc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/ws"
)

// newPeer makes the peer of an offer. The peer must be closed; pc.LocalDescription returns its
// complete answer.
func (e *engine) newPeer(c Config, prop proposal, h transport.Hello, down Codec) (*peer, error) {
	o := prop.offer
	pc, err := e.api.NewPeerConnection(e.configuration(c))
	if err != nil {
		return nil, fmt.Errorf("transport/rtc: answer: %w", err)
	}
	p := &peer{cfg: c, hello: h, pc: pc, inbox: newInbox(), connected: make(chan struct{}), done: make(chan struct{}),
		closed: make(chan struct{})}
	p.ways = newWays(c)
	if prop.dialect != nil {
		p.talk = newTalk(prop.dialect)
	}
	p.channel = newChannel(o.data, p.done)
	p.receiver = newAudioReceiver(p.inbox, o.kinds, p.ready.Load)
	if p.talk != nil && p.talk.mixer != nil {
		p.receiver.keep = p.keep
	}
	if p.late() {
		_ = p.sendAll(context.Background(), p.talk.config.Welcome()) // kept until the channel is open
	}
	p.playout = newPlayout(down.rateHz(), c.PlayoutDelay, func(ack *transport.Event) { p.inbox.put(ack, inboxMax) })
	if err := p.wire(o, down); err != nil {
		_ = pc.GracefulClose()
		return nil, err
	}
	p.deadline = time.AfterFunc(c.ConnectTimeout, func() {
		p.fail(transport.End(transport.ReasonPeerLost, fmt.Sprintf("No way for sound was found within %v.",
			c.ConnectTimeout), nil))
	})
	return p, nil
}

// wire connects the peer with the library and answers.
func (p *peer) wire(o *offer, down Codec) error {
	sender, err := p.addReply(o, down)
	if err != nil {
		return err
	}
	p.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) { p.state(s, sender) })
	p.pc.OnTrack(p.listen)
	p.pc.OnDataChannel(p.offered)
	text := o.restarted(o.ufrag, o.pwd) // without candidates: the library sends nothing to them
	if p.cfg.FullICE {
		text = p.ways.filter(o.text)
	}
	if err := p.answer(text); err != nil {
		p.sender.encoder.close()
		return err
	}
	return nil
}

// addReply makes the sender of the reply, and its track if the caller hears it.
func (p *peer) addReply(o *offer, down Codec) (sender *webrtc.RTPSender, err error) {
	var track *webrtc.TrackLocalStaticRTP
	if o.hears() {
		if track, err = webrtc.NewTrackLocalStaticRTP(down.capability(), "reply", "voicegw"); err != nil {
			return nil, fmt.Errorf("transport/rtc: answer: %w", err)
		}
	}
	if p.sender, err = newAudioSender(down, p.playout, track); err != nil || track == nil {
		return nil, err
	}
	if sender, err = p.pc.AddTrack(track); err != nil {
		p.sender.encoder.close()
		return nil, fmt.Errorf("transport/rtc: answer: %w", err)
	}
	return sender, nil
}

// gatherMax is how long the library gathers addresses. Without FullICE it takes no time.
const gatherMax = 3 * time.Second

// answer answers an offer, the first or one that restarts ICE.
func (p *peer) answer(text string) error {
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: text}); err != nil {
		return admission.Refusal(406, "the offer cannot be answered")
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return admission.Refusal(406, "no answer to the offer can be made")
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return admission.Refusal(406, "the answer to the offer cannot be used")
	}
	timer := time.NewTimer(gatherMax)
	defer timer.Stop()
	select {
	case <-gathered:
	case <-timer.C:
	}
	return nil
}

// state follows the state of the connection. The library calls it.
func (p *peer) state(s webrtc.PeerConnectionState, sender *webrtc.RTPSender) {
	switch s {
	case webrtc.PeerConnectionStateConnected:
		p.connect.Do(func() { p.start(sender) })
	case webrtc.PeerConnectionStateFailed:
		p.fail(transport.End(transport.ReasonPeerLost, "", errors.New("no packet came for too long")))
	case webrtc.PeerConnectionStateClosed:
		p.fail(transport.End(transport.ReasonCallerHungUp, "", nil))
	}
}

// start starts the goroutines that send the reply and read reports. They end when done and the
// connection are closed.
func (p *peer) start(sender *webrtc.RTPSender) {
	p.deadline.Stop()
	close(p.connected)
	p.task(func() {
		if err := p.sender.run(p.done); err != nil {
			p.fail(transport.End(transport.ReasonPeerLost, "", err))
		}
	})
	if sender != nil {
		p.task(func() { p.reports(sender) })
	}
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

// survive ends this call, and no other one, when input of the far end makes a decoder panic.
func (p *peer) survive() {
	if v := recover(); v != nil {
		p.cfg.Log.Error("panic in a call", zap.Any("panic", v), zap.Stack("stack"))
		p.fail(transport.End(transport.ReasonInternal, "", fmt.Errorf("panic: %v", v)))
	}
}

// listen receives a track, in the goroutine that the library made for it. A call has one track.
func (p *peer) listen(t *webrtc.TrackRemote, from *webrtc.RTPReceiver) {
	if t.Kind() != webrtc.RTPCodecTypeAudio || !p.tasks.begin() {
		return
	}
	defer p.tasks.wg.Done()
	defer p.survive()
	if !p.receiver.mine.CompareAndSwap(false, true) {
		return
	}
	again := func(c webrtc.RTPCodecParameters) bool { return slices.Contains(c.RTCPFeedback, nackFeedback()) }
	if slices.ContainsFunc(from.GetParameters().Codecs, again) {
		p.receiver.request.send = func(nack *rtcp.TransportLayerNack) { _ = p.pc.WriteRTCP([]rtcp.Packet{nack}) }
	}
	err := p.receiver.run(t, func(b []byte) (int, error) {
		n, _, err := t.Read(b)
		return n, err
	})
	p.cfg.Log.Debug("the caller's track ended", zap.Error(err))
}

// reports reads the far end's receiver reports: the round trip is a part of the playout delay.
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

// roundTripMax is the longest plausible round trip.
const roundTripMax = 2 * time.Second

// report handles the reports of one packet (RFC 3550 section 6.4.1).
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

// ntpMiddle returns the middle 32 bits of a time in NTP's format.
func ntpMiddle(t time.Time) uint32 {
	const from1900 = 2208988800
	return uint32(uint64(t.Unix()+from1900)<<16) | uint32(uint64(t.Nanosecond())<<16/1e9)
}

// offered takes a data channel of the far end. The library calls it for one channel after the
// other, and makes the next one when it has returned. Each channel costs memory and a goroutine. So one
// channel too many ends the call, and offered returns only when the call has ended.
func (p *peer) offered(dc *webrtc.DataChannel) {
	if p.channels++; p.channels > ChannelsMax {
		p.fail(transport.End(transport.ReasonLimit, fmt.Sprintf("A call opens at most %d data channels.", ChannelsMax), nil))
		<-p.done
		return
	}
	ours := p.talk != nil || dc.Label() == ChannelLabel
	if !ours || !dc.Ordered() || dc.MaxRetransmits() != nil || dc.MaxPacketLifeTime() != nil {
		p.ignored.Add(1)
		dc.OnOpen(func() { _ = dc.Close() })
		return
	}
	dc.OnOpen(func() {
		from, err := dc.Detach()
		if err != nil { // it was closed at once
			p.ignored.Add(1)
			return
		}
		p.task(func() { p.read(dc, from) })
		p.channel.use(dc)
	})
}

// read takes the messages of the data channel until it is closed.
func (p *peer) read(dc *webrtc.DataChannel, from messageReader) {
	if err := readMessages(from, p.event); !errors.Is(err, errLongMessage) {
		p.channel.leave(dc)
		return
	}
	p.fail(transport.End(transport.ReasonMessageTooBig, fmt.Sprintf("A message of the data channel has at most %d bytes.",
		EventBytesMax), errLongMessage))
}

// event takes one message of the data channel. When the inbox is full it waits, and so does the far
// end.
func (p *peer) event(data []byte, text bool) {
	if !text {
		p.fail(transport.End(transport.ReasonBadJSON, "The data channel carries events as text; a binary message came.", nil))
		return
	}
	if p.talk != nil {
		p.hear(data)
		return
	}
	var ev transport.Event
	switch err := ws.DecodeEvent(data, &ev); {
	case ws.IsUnknown(err), err == nil && ev.Kind == transport.EventAck:
		p.ignored.Add(1) // the endpoint knows what was played: it sends in real time
	case ws.IsHello(err):
		p.fail(transport.End(transport.ReasonSecondHello, "", nil))
	case err != nil:
		p.fail(transport.End(transport.ReasonBadJSON, err.Error(), err))
	default:
		p.inbox.wait(&ev)
	}
}
