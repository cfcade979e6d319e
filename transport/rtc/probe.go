package rtc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/logging"
	"github.com/pion/webrtc/v4"
)

// Probe gets an address from a STUN or TURN server, as a caller does with the credentials that it is given,
// and returns the address. It waits until ctx is done.
func Probe(ctx context.Context, s ICEServer) (address string, err error) {
	if err := s.check(); err != nil {
		return "", err
	}
	s = s.issue(time.Now())
	var settings webrtc.SettingEngine
	settings.LoggerFactory = &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled}
	settings.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	settings.SetIncludeLoopbackCandidate(true)
	want, policy := webrtc.ICECandidateTypeSrflx, webrtc.ICETransportPolicyAll
	if strings.HasPrefix(s.URLs[0], "turn") {
		want, policy = webrtc.ICECandidateTypeRelay, webrtc.ICETransportPolicyRelay
	}
	server := webrtc.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential}
	gatherer, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings)).NewICEGatherer(
		webrtc.ICEGatherOptions{ICEServers: []webrtc.ICEServer{server}, ICEGatherPolicy: policy})
	if err != nil {
		return "", fmt.Errorf("transport/rtc: probe: %w", err)
	}
	defer func() { _ = gatherer.Close() }()
	found := make(chan *webrtc.ICECandidate, CandidatesMax)
	gatherer.OnLocalCandidate(func(c *webrtc.ICECandidate) {
		if c == nil || c.Typ == want {
			select {
			case found <- c:
			default:
			}
		}
	})
	if err := gatherer.Gather(); err != nil {
		return "", fmt.Errorf("transport/rtc: probe: %w", err)
	}
	select {
	case c := <-found:
		if c == nil {
			return "", errors.New("transport/rtc: probe: the server gave no address: it did not answer, or refused the " +
				"credentials")
		}
		return c.Address, nil
	case <-ctx.Done():
		return "", fmt.Errorf("transport/rtc: probe: the server did not answer in time: %w", ctx.Err())
	}
}
