package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/asterisk"
	"github.com/voicegw/voicegw/transport/gemini"
	"github.com/voicegw/voicegw/transport/mediastream"
	"github.com/voicegw/voicegw/transport/openai"
	"github.com/voicegw/voicegw/transport/rtc"
	"github.com/voicegw/voicegw/transport/rtvi"
	"github.com/voicegw/voicegw/transport/wsdoor"
)

// protocols are the doors that the settings open, besides the page's own.
type protocols struct {
	mux    *http.ServeMux
	gemini http.Handler // nil: not open
	closed []io.Closer
}

// openProtocols opens them; every one takes its calls from lines.
func (o *options) openProtocols(lines transport.Lines, log *zap.Logger) (*protocols, error) {
	p := &protocols{mux: http.NewServeMux()}
	for _, name := range doorNames() {
		if !slices.Contains(o.doors.open, name) {
			continue
		}
		if err := p.open(name, o, lines, log); err != nil {
			_ = p.Close()
			return nil, fmt.Errorf("the door %s: %w", name, err)
		}
	}
	return p, nil
}

// handlerCloser is what every door is.
type handlerCloser interface {
	http.Handler
	io.Closer
}

// open opens one door.
func (p *protocols) open(name string, o *options, lines transport.Lines, log *zap.Logger) error {
	cfg := wsdoor.Config{Lines: lines, Log: log, Hosts: o.hosts, Origins: o.origins}
	var d handlerCloser
	var err error
	var paths []string
	switch name {
	case "webrtc":
		paths = []string{"/v1/whip", "/v1/whip/"}
		d, err = rtc.New(o.webRTC(lines, log))
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
		d, err = o.openTwilio(lines, log)
	case "asterisk":
		paths = []string{"/v1/asterisk"}
		d, err = o.openAsterisk(lines, log)
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

// Close closes the doors.
func (p *protocols) Close() error {
	var err error
	for _, c := range p.closed {
		err = errors.Join(err, c.Close())
	}
	return err
}

// before serves the doors' paths, and next everything else.
func (p *protocols) before(next http.Handler) http.Handler {
	p.mux.Handle("/", next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.gemini != nil && gemini.Serves(r.URL.Path) {
			p.gemini.ServeHTTP(w, r)
			return
		}
		p.mux.ServeHTTP(w, r)
	})
}

func (o *options) webRTC(lines transport.Lines, log *zap.Logger) rtc.Config {
	d := o.doors.webrtc
	cfg := rtc.Config{Lines: lines, Log: log, Hosts: o.hosts, Origins: o.origins, Listen: d.listen,
		PublicIPs: d.publicIPs, FullICE: d.fullICE, PrivateCandidates: d.private}
	if cfg.Listen == "" {
		host, _, _ := net.SplitHostPort(o.listen)
		cfg.Listen = net.JoinHostPort(host, "0")
	}
	if len(d.iceServers) > 0 {
		cfg.ICEServers = []rtc.ICEServer{{URLs: d.iceServers}}
	}
	return cfg
}

func (o *options) openTwilio(lines transport.Lines, log *zap.Logger) (*mediastream.Door, error) {
	d := o.doors.twilio
	token, err := o.secretIn("twilio.auth_token_file", d.authTokenFile)
	if err != nil {
		return nil, err
	}
	secret, err := o.secretIn("twilio.secret_file", d.secretFile)
	if err != nil {
		return nil, err
	}
	return mediastream.New(mediastream.Config{Lines: lines, Log: log, Hosts: o.hosts, AuthToken: token, Secret: secret,
		OwnTwiML: d.ownTwiML, PublicURL: d.publicURL, AfterURL: d.afterURL, Targets: targets(d.targets)})
}

func (o *options) openAsterisk(lines transport.Lines, log *zap.Logger) (*asterisk.Door, error) {
	d := o.doors.asterisk
	password, err := o.secretIn("asterisk.password_file", d.passwordFile)
	if err != nil {
		return nil, err
	}
	ari, err := o.secretIn("asterisk.ari_password_file", d.ariFile)
	if err != nil {
		return nil, err
	}
	return asterisk.New(asterisk.Config{Lines: lines, Log: log, Hosts: o.hosts, User: d.user, Password: password,
		ARI:     asterisk.ARI{URL: d.ariURL, User: d.ariUser, Password: ari, Context: d.ariContext},
		Targets: targets(d.targets)})
}

// secretIn reads a secret from a file, "" without one.
func (o *options) secretIn(key, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := readSmall(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("%s: %s is empty", key, path)
	}
	o.warnReadable(key, path)
	return text, nil
}

// targets are entries of the form name=address.
func targets(list []string) map[string]string {
	all := map[string]string{}
	for _, entry := range list {
		name, to, _ := strings.Cut(entry, "=")
		all[name] = to
	}
	return all
}
