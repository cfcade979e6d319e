package rtc

import (
	"fmt"
	"io"
	"net"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/interceptor/pkg/report"
	"github.com/pion/logging"
	"github.com/pion/webrtc/v4"
)

const (
	// suspectAfter is the time without packets after which the connection counts as disturbed.
	suspectAfter = 5 * time.Second
	// keepAlive is how often the endpoint checks that the far end is there, where it may send
	// checks.
	keepAlive = 2 * time.Second
	// nackPackets is how many sent packets are kept for retransmission: 640 ms. It must be a power
	// of two.
	nackPackets = 32
)

// engine is the WebRTC library set up for one UDP port.
type engine struct {
	api  *webrtc.API
	conn net.PacketConn
	mux  ice.UDPMux
	cfg  webrtc.Configuration
}

// listen opens the port of all calls.
func listen(c Config) (net.PacketConn, error) {
	addr, err := net.ResolveUDPAddr("udp", c.Listen)
	if err != nil {
		return nil, fmt.Errorf("transport/rtc: listen on %s: %w", c.Listen, err)
	}
	conn, err := net.ListenUDP("udp", addr)
	if err != nil {
		return nil, fmt.Errorf("transport/rtc: listen on %s: %w", c.Listen, err)
	}
	_ = conn.SetReadBuffer(4 << 20) // as much as the system allows: all calls share it
	return conn, nil
}

// newEngine takes over a port. It must be closed; when it fails it closes the port.
func newEngine(c Config, conn net.PacketConn) (*engine, error) {
	quiet := &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled}
	e := &engine{conn: conn, mux: webrtc.NewICEUDPMux(quiet.NewLogger("ice"), conn)}
	if err := e.build(c, quiet); err != nil {
		_ = e.close()
		return nil, fmt.Errorf("transport/rtc: set up: %w", err)
	}
	return e, nil
}

func (e *engine) build(c Config, log logging.LoggerFactory) error {
	media := &webrtc.MediaEngine{}
	if err := registerCodecs(media); err != nil {
		return err
	}
	packets, err := interceptors()
	if err != nil {
		return err
	}
	settings := webrtc.SettingEngine{LoggerFactory: log}
	settings.SetICEUDPMux(e.mux)
	settings.SetLite(!c.FullICE)
	settings.SetIncludeLoopbackCandidate(true)
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6})
	suspect := min(suspectAfter, c.DisconnectTimeout/2)
	settings.SetICETimeouts(suspect, c.DisconnectTimeout-suspect, keepAlive)
	settings.SetFireOnTrackBeforeFirstRTP(true)
	settings.DetachDataChannels() // see readMessages
	if len(c.PublicIPs) > 0 {
		err := settings.SetICEAddressRewriteRules(webrtc.ICEAddressRewriteRule{External: c.PublicIPs,
			AsCandidateType: webrtc.ICECandidateTypeHost, Mode: webrtc.ICEAddressRewriteReplace})
		if err != nil {
			return err
		}
	}
	e.cfg.BundlePolicy = webrtc.BundlePolicyMaxBundle
	e.api = webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithInterceptorRegistry(packets),
		webrtc.WithSettingEngine(settings))
	return nil
}

// registerCodecs registers the codecs of answers, and telephone events.
func registerCodecs(media *webrtc.MediaEngine) error {
	list := make([]webrtc.RTPCodecParameters, 0, len(codecs())+2)
	for _, c := range codecs() {
		list = append(list, webrtc.RTPCodecParameters{RTPCodecCapability: c.capability(), PayloadType: c.payloadType()})
	}
	for _, clock := range []uint32{48000, 8000} {
		k := webrtc.RTPCodecCapability{MimeType: "audio/telephone-event", ClockRate: clock, SDPFmtpLine: "0-16"}
		kind := webrtc.PayloadType(110 + 16*(48000-clock)/40000) // 110 and 126, as in browsers
		list = append(list, webrtc.RTPCodecParameters{RTPCodecCapability: k, PayloadType: kind})
	}
	for _, p := range list {
		if err := media.RegisterCodec(p, webrtc.RTPCodecTypeAudio); err != nil {
			return err
		}
	}
	return nil
}

// interceptors add reports about sent and received packets, and retransmission on request of the
// far end. The receiver itself requests packets: the library would wake every call for it 50 times a second.
func interceptors() (*interceptor.Registry, error) {
	again, err := nack.NewResponderInterceptor(nack.ResponderSize(nackPackets))
	if err != nil {
		return nil, err
	}
	received, err := report.NewReceiverInterceptor()
	if err != nil {
		return nil, err
	}
	told, err := report.NewSenderInterceptor()
	if err != nil {
		return nil, err
	}
	r := &interceptor.Registry{}
	for _, f := range []interceptor.Factory{again, received, told} {
		r.Add(f)
	}
	return r, nil
}

// close closes the port.
func (e *engine) close() error {
	err := e.mux.Close()
	_ = e.conn.Close() // the mux closes it too
	return err
}
