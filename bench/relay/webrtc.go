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
	queueMax  = 60 * 8000 // samples of the reply that wait to be sent
	udpBuffer = 4 << 20
)

// newWebRTC sets the library up for one UDP port of this machine, with G.711 and its default
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
	if err := media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: pcmu()},
		webrtc.RTPCodecTypeAudio); err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	return webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithSettingEngine(settings)), nil
}

// pcmu is G.711.
func pcmu() webrtc.RTPCodecCapability {
	return webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000}
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
	s := &rtpStream{model: m, over: over}
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
	track *webrtc.TrackLocalStaticRTP

	mu    sync.Mutex
	queue []int16 // of the reply, at 8 kHz
}

// join answers the offer and starts a goroutine for the reply, one for its pace, and one for the
// caller's audio. They end with the connection.
func (s *rtpStream) join(pc *webrtc.PeerConnection, offer string) (answer string, err error) {
	if s.track, err = webrtc.NewTrackLocalStaticRTP(pcmu(), "voice", "relay"); err != nil {
		return "", err
	}
	if _, err := pc.AddTrack(s.track); err != nil {
		return "", err
	}
	pc.OnTrack(func(t *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { s.up(t) })
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
	go s.send()
	return pc.LocalDescription().SDP, nil
}

// up relays the caller's audio.
func (s *rtpStream) up(t *webrtc.TrackRemote) {
	to16, _ := audio.NewResampler(8000, 16000) // both rates are right
	var narrow, wide []int16
	var le []byte
	for {
		p, _, err := t.ReadRTP()
		if err != nil {
			return
		}
		narrow = audio.AppendMuLawSamples(narrow[:0], p.Payload)
		wide = to16.Resample(wide[:0], narrow)
		le = audio.AppendBytes(le[:0], wide)
		if s.model.send(le) != nil {
			return
		}
	}
}

// receive queues the reply, and drops it when the model was interrupted, or later replies would wait
// for it.
func (s *rtpStream) receive() {
	to8, _ := audio.NewResampler(24000, 8000) // both rates are right
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
		if len(s.queue) < queueMax {
			sound = audio.AppendSamples(sound[:0], said.pcm)
			s.queue = to8.Resample(s.queue, sound)
		}
		s.mu.Unlock()
	}
}

// send sends a packet every 20 ms, as RTP needs it: of the reply, or of silence.
func (s *rtpStream) send() {
	tick := time.NewTicker(audio.FrameDuration)
	defer tick.Stop()
	p := rtp.Packet{Header: rtp.Header{Version: 2}}
	frame := make([]int16, codedFrame)
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
		p.Payload = audio.AppendMuLaw(p.Payload[:0], frame)
		if s.track.WriteRTP(&p) != nil {
			return
		}
		p.SequenceNumber++
		p.Timestamp += codedFrame
	}
}
