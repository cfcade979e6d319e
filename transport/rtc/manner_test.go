package rtc_test

import (
	"io"
	"net"
	"sync"
	"testing"

	"github.com/pion/ice/v4"
	"github.com/pion/logging"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"
)

// manner is how a caller differs from a good one.
type manner struct {
	codec   webrtc.RTPCodecCapability // G722 unless it is another one
	noData  bool                      // no data channel
	token   string
	hello   string                     // the header
	through func(answer string) string // changes the answer
	offers  func(offer string) string  // changes the offer
	way     webrtc.RTPTransceiverDirection
	ice     webrtc.Configuration // ways besides the direct one
}

func g722() webrtc.RTPCodecCapability {
	return webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeG722, ClockRate: 8000,
		RTCPFeedback: []webrtc.RTCPFeedback{{Type: "nack"}}}
}

// rawTrack is a track whose packets may have any payload type.
type rawTrack struct {
	*webrtc.TrackLocalStaticRTP
	mu     sync.Mutex
	stream webrtc.TrackLocalWriter
	ssrc   uint32
	kind   uint8 // of its codec
}

// Bind remembers where packets go.
func (r *rawTrack) Bind(c webrtc.TrackLocalContext) (webrtc.RTPCodecParameters, error) {
	p, err := r.TrackLocalStaticRTP.Bind(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stream, r.ssrc, r.kind = c.WriteStream(), uint32(c.SSRC()), uint8(p.PayloadType)
	return p, err
}

// write sends a packet, of the track's codec unless it is of another type.
func (r *rawTrack) write(p *rtp.Packet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.SSRC = r.ssrc; p.PayloadType == 0 {
		p.PayloadType = r.kind
	}
	if r.stream != nil { // of one who only listens
		_, _ = r.stream.WriteRTP(&p.Header, p.Payload)
	}
}

// api is the WebRTC library as a client has it. One that stays keeps its end open when the far end
// closed its own.
func (m manner) api(t testing.TB, socket net.PacketConn, stays bool) *webrtc.API {
	t.Helper()
	media := &webrtc.MediaEngine{}
	for pt, c := range map[webrtc.PayloadType]webrtc.RTPCodecCapability{9: g722(),
		0:   {MimeType: webrtc.MimeTypePCMU, ClockRate: 8000},
		111: {MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2},
		126: {MimeType: "audio/telephone-event", ClockRate: 8000}} {
		if err := media.RegisterCodec(webrtc.RTPCodecParameters{RTPCodecCapability: c, PayloadType: pt},
			webrtc.RTPCodecTypeAudio); err != nil {
			t.Fatal(err)
		}
	}
	quiet := &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled}
	s := webrtc.SettingEngine{LoggerFactory: quiet}
	s.DisableCloseByDTLS(stays)
	s.SetIncludeLoopbackCandidate(true)
	s.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	s.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	s.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	s.SetICEUDPMux(webrtc.NewICEUDPMux(quiet.NewLogger("ice"), socket))
	return webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithSettingEngine(s))
}
