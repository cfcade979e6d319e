package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pion/logging"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// rtcLine is a WebRTC call as WHIP begins it, with one codec both ways and a data channel for events.
type rtcLine struct {
	codec rtcCodec
	pc    *webrtc.PeerConnection
	track *webrtc.TrackLocalStaticRTP
	heard chan *webrtc.TrackRemote // 1 deep
	clear chan struct{}            // 16 deep
	over  chan struct{}
	once  sync.Once

	packet rtp.Packet // of the goroutine that sends
	coded  []byte
}

// channelLabel names the data channel of docs/webrtc.md.
const channelLabel = "voicegw.v1"

// dialWebRTC calls as a browser does.
func dialWebRTC(ctx context.Context, url, codec, token string) (line, error) {
	c, err := newRTCCodec(codec)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	l := &rtcLine{codec: c, heard: make(chan *webrtc.TrackRemote, 1), clear: make(chan struct{}, 16),
		over: make(chan struct{})}
	l.packet.Version = 2
	if err := l.dial(ctx, url, token); err != nil {
		l.close()
		return nil, fmt.Errorf("bench: dial %s: %w", url, err)
	}
	return l, nil
}

func (l *rtcLine) dial(ctx context.Context, url, token string) error {
	codecs := &webrtc.MediaEngine{}
	if err := codecs.RegisterCodec(l.codec.parameters(), webrtc.RTPCodecTypeAudio); err != nil {
		return err
	}
	settings := webrtc.SettingEngine{LoggerFactory: &logging.DefaultLoggerFactory{Writer: io.Discard}}
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	var err error
	l.pc, err = webrtc.NewAPI(webrtc.WithMediaEngine(codecs), webrtc.WithSettingEngine(settings)).
		NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		return err
	}
	connected := make(chan struct{})
	l.watch(connected)
	if l.track, err = webrtc.NewTrackLocalStaticRTP(l.codec.parameters().RTPCodecCapability, "voice",
		"caller"); err != nil {
		return err
	}
	if _, err := l.pc.AddTrack(l.track); err != nil {
		return err
	}
	events, err := l.pc.CreateDataChannel(channelLabel, nil)
	if err != nil {
		return err
	}
	events.OnMessage(l.event)
	if err := l.exchange(ctx, url, token); err != nil {
		return err
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-connected:
		return nil
	case <-l.over:
		return errors.New("the connection failed")
	case <-limit.C:
		return fmt.Errorf("there was no connection within %v", patience)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watch closes connected when the call is up, and l.over when it has ended.
func (l *rtcLine) watch(connected chan struct{}) {
	var up sync.Once
	l.pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		switch s {
		case webrtc.PeerConnectionStateConnected:
			up.Do(func() { close(connected) })
		case webrtc.PeerConnectionStateFailed, webrtc.PeerConnectionStateClosed:
			l.once.Do(func() { close(l.over) })
		}
	})
	l.pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { l.heard <- t })
}

// exchange posts the offer and takes the answer.
func (l *rtcLine) exchange(ctx context.Context, url, token string) error {
	offer, err := l.pc.CreateOffer(nil)
	if err != nil {
		return err
	}
	gathered := webrtc.GatheringCompletePromise(l.pc)
	if err := l.pc.SetLocalDescription(offer); err != nil {
		return err
	}
	<-gathered
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.Replace(url, "ws", "http", 1),
		strings.NewReader(l.pc.LocalDescription().SDP))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/sdp")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	sdp, err := io.ReadAll(io.LimitReader(answer.Body, messageMax))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusCreated {
		return fmt.Errorf("the call is refused: %s: %s", answer.Status, transport.OneLine(string(sdp), 200))
	}
	return l.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: string(sdp)})
}

// event takes a message of the data channel.
func (l *rtcLine) event(in webrtc.DataChannelMessage) {
	var m transport.Message
	if in.IsString && ws.DecodeMessage(in.Data, &m) == nil && m.Kind == transport.MessageClear {
		select {
		case l.clear <- struct{}{}:
		default:
		}
	}
}

func (l *rtcLine) send(n, number int) error {
	var err error
	if l.coded, err = l.codec.encode(l.coded[:0], n, number); err != nil {
		return err
	}
	l.packet.Payload = l.coded
	err = l.track.WriteRTP(&l.packet)
	l.packet.SequenceNumber++
	l.packet.Timestamp += l.codec.ticks()
	return err
}

// ack does nothing: RTP has no acknowledgements of playout.
func (l *rtcLine) ack(uint64, int64, string, bool) error { return nil }

func (l *rtcLine) run(c *caller) error {
	var listening sync.WaitGroup
	defer listening.Wait()
	defer func() { _ = l.pc.Close() }()
	for {
		select {
		case t := <-l.heard:
			listening.Go(func() { l.listen(c, t) })
		case <-l.clear:
			if err := c.clear(time.Now(), 0); err != nil {
				return err
			}
		case <-l.over:
			return errors.New("the connection was closed")
		}
	}
}

// listen takes the packets of the reply until the connection is closed. Packets of silence between
// replies do not count.
func (l *rtcLine) listen(c *caller, t *webrtc.TrackRemote) {
	for {
		p, _, err := t.ReadRTP()
		if err != nil {
			l.once.Do(func() { close(l.over) })
			return
		}
		if len(p.Payload) > 0 && l.codec.audible(p.Payload) {
			c.audio(time.Now(), 0)
		}
	}
}

func (l *rtcLine) close() {
	l.once.Do(func() { close(l.over) })
	if l.pc != nil {
		_ = l.pc.Close()
	}
	l.codec.close()
}
