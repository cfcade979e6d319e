package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/asterisk"
	"github.com/voicegw/voicegw/transport/gemini"
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/transport/openai"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/transport/rtvi"
	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// endpoints are those that the settings open, besides the page's own.
type endpoints struct {
	mux      *http.ServeMux
	gemini   http.Handler  // nil: not open
	webrtc   *rtc.Endpoint // nil: not open
	twilio   *mediastream.Endpoint
	asterisk *asterisk.Endpoint
	closed   []io.Closer
}

// openEndpoints opens them; each gives its calls to lines.
func openEndpoints(s *settings.Settings, lines transport.Lines, log *zap.Logger) (*endpoints, error) {
	p := &endpoints{mux: http.NewServeMux()}
	for _, name := range settings.EndpointNames() {
		if !slices.Contains(s.Endpoints, name) {
			continue
		}
		if err := p.open(name, s, lines, log); err != nil {
			_ = p.Close()
			return nil, fmt.Errorf("endpoint %s: %w", name, err)
		}
	}
	return p, nil
}

// handlerCloser is an endpoint.
type handlerCloser interface {
	http.Handler
	io.Closer
}

// open opens one endpoint.
func (p *endpoints) open(name string, s *settings.Settings, lines transport.Lines, log *zap.Logger) error {
	cfg := webSockets(s, lines, log)
	var d handlerCloser
	var err error
	var paths []string
	switch name {
	case "webrtc":
		paths = []string{"/v1/whip", "/v1/whip/"}
		var calls *rtc.Endpoint
		if calls, err = openWebRTC(s, lines, log); err == nil {
			err = p.openOver(calls, s.Endpoints, cfg)
		}
		d, p.webrtc = calls, calls
	case "gemini":
		d, err = gemini.New(cfg)
		p.gemini = d
	case "openai":
		paths = []string{"/v1/realtime"}
		d, err = openai.New(cfg)
	case "rtvi":
		paths = []string{"/v1/rtvi"}
		d, err = rtvi.New(cfg)
	case "twilio":
		paths = []string{"/v1/twilio", "/v1/twilio/"}
		p.twilio, err = openTwilio(s, lines, log)
		d = p.twilio
	case "asterisk":
		paths = []string{"/v1/asterisk"}
		p.asterisk, err = openAsterisk(s, lines, log)
		d = p.asterisk
	}
	if err != nil {
		return err
	}
	p.closed = append(p.closed, d)
	for _, path := range paths {
		p.mux.Handle(path, d)
	}
	return nil
}

// webSockets returns the configuration of the endpoints for WebSocket clients of others.
func webSockets(s *settings.Settings, lines transport.Lines, log *zap.Logger) wsendpoint.Config {
	cfg := wsendpoint.Config{Lines: lines, Log: log, Hosts: s.Hosts, Origins: s.Origins}
	if cfg.ResumeWithin = s.Limits.ResumeWithin; cfg.ResumeWithin == 0 {
		cfg.ResumeWithin = -1 // no call can be resumed
	}
	return cfg
}

// openOver opens the endpoints of names whose clients also call over WebRTC.
func (p *endpoints) openOver(calls *rtc.Endpoint, names []string, cfg wsendpoint.Config) error {
	if slices.Contains(names, "rtvi") {
		p.mux.Handle("/api/offer", calls.SmallWebRTC(rtvi.Name, func() rtc.Dialect { return rtvi.NewChannel() }))
	}
	if !slices.Contains(names, "openai") {
		return nil
	}
	secrets, err := openai.NewSecrets(cfg)
	if err != nil {
		return errors.Join(err, calls.Close())
	}
	p.closed = append(p.closed, secrets)
	p.mux.Handle("/v1/realtime/client_secrets", secrets)
	realtime := calls.RealtimeCalls(openai.Name, func(key string, session []byte) (string, rtc.Configurer, error) {
		token, channel, err := secrets.Call(key, session)
		return token, channel, err
	})
	p.mux.Handle("/v1/realtime/calls", realtime)
	p.mux.Handle("/v1/realtime/calls/", realtime)
	return nil
}

// Close closes the endpoints.
func (p *endpoints) Close() error {
	var err error
	for _, c := range p.closed {
		err = errors.Join(err, c.Close())
	}
	return err
}

// before serves the paths of the endpoints, and leaves all others to next.
func (p *endpoints) before(next http.Handler) http.Handler {
	p.mux.Handle("/", next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.gemini != nil && gemini.Serves(r.URL.Path) {
			p.gemini.ServeHTTP(w, r)
			return
		}
		p.mux.ServeHTTP(w, r)
	})
}

func openWebRTC(s *settings.Settings, lines transport.Lines, log *zap.Logger) (_ *rtc.Endpoint, err error) {
	d := &s.WebRTC
	cfg := rtc.Config{Lines: lines, Log: log, Hosts: s.Hosts, Origins: s.Origins, Listen: d.Listen,
		PublicIPs: d.PublicIPs, FullICE: d.FullICE, PrivateCandidates: d.PrivateCandidates, OneWay: d.OneWay}
	if cfg.Listen == "" {
		host, _, _ := net.SplitHostPort(s.Listen)
		cfg.Listen = net.JoinHostPort(host, "0")
	}
	if cfg.ICEServers, err = iceServers(s); err != nil {
		return nil, err
	}
	return rtc.New(cfg)
}

// turnSpare is how long the credentials of a call are valid beyond the longest call.
const turnSpare = 5 * time.Minute

// iceServers returns the servers that callers are given.
func iceServers(s *settings.Settings) (list []rtc.ICEServer, err error) {
	d := &s.WebRTC
	if len(d.ICEServers) > 0 {
		list = append(list, rtc.ICEServer{URLs: d.ICEServers})
	}
	if len(d.TURN.Servers) == 0 {
		return list, nil
	}
	turn := rtc.ICEServer{URLs: d.TURN.Servers, Username: d.TURN.Username, Life: s.Net().MaxDuration + turnSpare}
	if turn.Credential, err = s.Secret("webrtc.turn_credential_file", d.TURN.CredentialFile); err != nil {
		return nil, err
	}
	if turn.Secret, err = s.Secret("webrtc.turn_secret_file", d.TURN.SecretFile); err != nil {
		return nil, err
	}
	return append(list, turn), nil
}

func openTwilio(s *settings.Settings, lines transport.Lines, log *zap.Logger) (*mediastream.Endpoint, error) {
	d := &s.Twilio
	token, secret, err := twilioSecrets(s)
	if err != nil {
		return nil, err
	}
	return mediastream.New(mediastream.Config{Lines: lines, Log: log, Hosts: s.Hosts, AuthToken: token, Secret: secret,
		OwnTwiML: d.OwnTwiML, PublicURL: d.PublicURL, AfterURL: d.AfterURL, Targets: targets(d.Targets)})
}

// twilioSecrets reads the auth token and the secret of carriers that do not sign.
func twilioSecrets(s *settings.Settings) (token, secret string, err error) {
	if token, err = s.Secret("twilio.auth_token_file", s.Twilio.AuthTokenFile); err != nil {
		return "", "", err
	}
	secret, err = s.Secret("twilio.secret_file", s.Twilio.SecretFile)
	if err == nil && secret != "" && len(secret) < mediastream.SecretLenMin {
		err = fmt.Errorf("twilio.secret_file: the secret has %d bytes; it must have %d or more", len(secret),
			mediastream.SecretLenMin)
	}
	return token, secret, err
}

func openAsterisk(s *settings.Settings, lines transport.Lines, log *zap.Logger) (*asterisk.Endpoint, error) {
	password, ari, err := asteriskSecrets(s)
	if err != nil {
		return nil, err
	}
	return asterisk.New(asterisk.Config{Lines: lines, Log: log, Hosts: s.Hosts, User: s.Asterisk.User, Password: password,
		ARI: ari, Targets: targets(s.Asterisk.Targets)})
}

// asteriskSecrets reads the password of Asterisk, and what its REST interface takes.
func asteriskSecrets(s *settings.Settings) (password string, ari asterisk.ARI, err error) {
	d := &s.Asterisk
	if password, err = s.Secret("asterisk.password_file", d.PasswordFile); err != nil {
		return "", ari, err
	}
	ari = asterisk.ARI{URL: d.ARIURL, User: d.ARIUser, Context: d.ARIContext}
	ari.Password, err = s.Secret("asterisk.ari_password_file", d.ARIPasswordFile)
	return password, ari, err
}

// targets parses entries of the form name=address.
func targets(list []string) map[string]string {
	all := map[string]string{}
	for _, entry := range list {
		name, to, _ := strings.Cut(entry, "=")
		all[name] = to
	}
	return all
}
