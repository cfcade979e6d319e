package relay

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/pion/logging"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/audio"
)

const (
	offerMax  = 64 << 10
	queueMax  = 60 // seconds of the reply that wait to be sent
	udpBuffer = 4 << 20
)

// newWebRTC sets the library up for one UDP port of this machine, with its default
// interceptors.
func newWebRTC() (*webrtc.API, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("relay: listen: %w", err)
	}
	_ = conn.SetReadBuffer(udpBuffer)
	quiet := &logging.DefaultLoggerFactory{Writer: io.Discard}
	settings := webrtc.SettingEngine{LoggerFactory: quiet}
	settings.SetICEUDPMux(webrtc.NewICEUDPMux(quiet.NewLogger("ice"), conn))
	settings.SetLite(true)
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	media := &webrtc.MediaEngine{}
	for _, c := range []codec{pcmu(), opus48()} {
		if err := media.RegisterCodec(c.RTPCodecParameters, webrtc.RTPCodecTypeAudio); err != nil {
			return nil, fmt.Errorf("relay: %w", err)
		}
	}
	return webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithSettingEngine(settings)), nil
}

// whip answers an offer and relays RTP until the connection is over.
func (r *Relay) whip(w http.ResponseWriter, req *http.Request) {
	offer, err := io.ReadAll(io.LimitReader(req.Body, offerMax))
	if err != nil {
		return
	}
	answer, err := r.call(req.Context(), string(offer))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/sdp")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
}

// call begins a call and returns the answer to its offer.
func (r *Relay) call(ctx context.Context, offer string) (answer string, err error) {
	m, err := dialModel(ctx, r.Model)
	if err != nil {
		return "", err
	}
	r.once.Do(func() { r.api, r.failed = newWebRTC() })
	if r.failed != nil {
		m.close()
		return "", r.failed
	}
	pc, err := r.api.NewPeerConnection(webrtc.Configuration{})
	if err != nil {
		m.close()
		return "", fmt.Errorf("relay: %w", err)
	}
	over := make(chan struct{})
	var once sync.Once
	pc.OnConnectionStateChange(func(s webrtc.PeerConnectionState) {
		if s >= webrtc.PeerConnectionStateDisconnected {
			once.Do(func() {
				close(over)
				m.close()
				_ = pc.Close()
			})
		}
	})
	s := &rtpStream{model: m, over: over, codec: offered(offer)}
	if answer, err = s.join(pc, offer); err != nil {
		m.close()
		_ = pc.Close()
		return "", fmt.Errorf("relay: %w", err)
	}
	return answer, nil
}

// rtpStream is a call by RTP.
type rtpStream struct {
	model *model
	over  chan struct{}
	codec codec
	track *webrtc.TrackLocalStaticRTP

	mu    sync.Mutex
	queue []int16 // of the reply, at the rate of the codec
}

// join answers the offer and starts a goroutine for the reply, one for its pace, and one for the
// caller's audio. They end with the connection.
func (s *rtpStream) join(pc *webrtc.PeerConnection, offer string) (answer string, err error) {
	decode, err := s.codec.decoder()
	if err != nil {
		return "", err
	}
	encode, free, err := s.codec.encoder()
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			free()
		}
	}()
	if s.track, err = webrtc.NewTrackLocalStaticRTP(s.codec.RTPCodecCapability, "voice", "relay"); err != nil {
		return "", err
	}
	if _, err := pc.AddTrack(s.track); err != nil {
		return "", err
	}
	pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { s.up(t, decode) })
	if err := pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", err
	}
	description, err := pc.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(pc)
	if err := pc.SetLocalDescription(description); err != nil {
		return "", err
	}
	<-gathered
	go s.receive()
	go func() {
		defer free()
		s.send(encode)
	}()
	return pc.LocalDescription().SDP, nil
}

// up relays the caller's audio.
func (s *rtpStream) up(t *webrtc.TrackRemote, decode func([]int16, []byte) ([]int16, error)) {
	var wide []int16
	var le []byte
	for {
		p, _, err := t.ReadRTP()
		if err != nil {
			return
		}
		if len(p.Payload) == 0 {
			continue
		}
		if wide, err = decode(wide[:0], p.Payload); err != nil {
			return
		}
		le = audio.AppendBytes(le[:0], wide)
		if s.model.send(le) != nil {
			return
		}
	}
}

// receive queues the reply, and drops it when the model was interrupted, or later replies would wait
// for it.
func (s *rtpStream) receive() {
	down, _ := audio.NewResampler(24000, s.codec.rateHz) // both rates are right
	var sound []int16
	for {
		said, err := s.model.receive()
		if err != nil {
			return
		}
		s.mu.Lock()
		if said.interrupted {
			s.queue = s.queue[:0]
		}
		if len(s.queue) < queueMax*s.codec.rateHz {
			sound = audio.AppendSamples(sound[:0], said.pcm)
			s.queue = down.Resample(s.queue, sound)
		}
		s.mu.Unlock()
	}
}

// send sends a packet every 20 ms, as RTP needs it: of the reply, or of silence.
func (s *rtpStream) send(encode func([]byte, []int16) ([]byte, error)) {
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	p := rtp.Packet{Header: rtp.Header{Version: 2}}
	frame := make([]int16, audio.FrameSamples(s.codec.rateHz))
	for {
		select {
		case <-tick.C:
		case <-s.over:
			return
		}
		clear(frame)
		s.mu.Lock()
		s.queue = s.queue[:copy(s.queue, s.queue[copy(frame, s.queue):])]
		s.mu.Unlock()
		var err error
		if p.Payload, err = encode(p.Payload[:0], frame); err != nil || s.track.WriteRTP(&p) != nil {
			return
		}
		p.SequenceNumber++
		p.Timestamp += s.codec.ticks
	}
}
