package rtc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// HelloHeader is the header of the first request that carries the settings of a call: a hello as JSON, as in the
// protocol of the WebSocket. Its rates, which the codecs decide, and its token, which has its own header, do not count.
const HelloHeader = "Voicegw-Hello"

const (
	offerType    = "application/sdp"
	fragmentType = "application/trickle-ice-sdpfrag"

	endpointMethods = "OPTIONS, POST"
)

// serveEndpoint is RFC 9725 section 4.2.
func (d *Door) serveEndpoint(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodOptions:
		w.Header().Set("Accept-Post", offerType)
		preflight(w, endpointMethods)
		return nil
	case http.MethodPost:
		return d.create(w, r)
	}
	w.Header().Set("Allow", endpointMethods)
	return refused(http.StatusMethodNotAllowed, "method %s: a call begins with POST", shorten(r.Method))
}

// create answers an offer and leaves a call behind.
func (d *Door) create(w http.ResponseWriter, r *http.Request) error {
	if !isType(r, offerType) {
		w.Header().Set("Accept-Post", offerType)
		return refused(http.StatusUnsupportedMediaType, "an offer is of type %s", offerType)
	}
	token, err := bearer(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	v := &visit{cancel: cancel}
	if !d.enter(v) {
		cancel(nil)
		return &transport.Refused{Reason: transport.ReasonGoingAway}
	}
	calls := false
	defer func() {
		if !calls { // refused, or panicked over the offer
			d.leave(v)
		}
	}()
	line, err := d.cfg.Lines.Take(transport.Handshake{Remote: remote(r), GiveUp: cancel})
	if err != nil {
		return fmt.Errorf("take a line: %w", err)
	}
	defer func() {
		if !calls {
			line.Release()
		}
	}()
	s, err := d.agree(ctx, w, r, line, token)
	if err != nil {
		return err
	}
	d.add(s)
	calls = true
	go d.call(ctx, v, line, s) // Close waits for it
	d.welcome(w, r, s)
	return nil
}

// agree reads an offer, asks the gateway and answers.
func (d *Door) agree(ctx context.Context, w http.ResponseWriter, r *http.Request, line transport.Line,
	token string) (*session, error) {
	body, err := d.read(ctx, w, r, OfferBytesMax)
	if err != nil {
		return nil, err
	}
	o, err := parseOffer(body)
	if err != nil {
		return nil, err
	}
	down, err := o.down(d.cfg.Codecs)
	if err != nil {
		return nil, err
	}
	hello, err := helloOf(r)
	if err != nil {
		return nil, err
	}
	hello.InputRateHz, hello.OutputRateHz = inputRateHz, down.rateHz()
	hello.Token, hello.Door, hello.Remote = token, "webrtc", remote(r)
	if err := line.Check(ctx, &hello); err != nil {
		if errors.Is(err, context.Canceled) {
			err = givenUp(ctx)
		}
		return nil, fmt.Errorf("check the hello: %w", err)
	}
	if ctx.Err() != nil {
		return nil, givenUp(ctx)
	}
	p, err := d.engine.newPeer(d.cfg, o, hello, down)
	if err != nil {
		return nil, err
	}
	return newSession(newID(), o, p, token), nil
}

// call runs a call to its end.
func (d *Door) call(ctx context.Context, v *visit, line transport.Line, s *session) {
	defer d.leave(v)
	defer line.Release()
	defer d.remove(s)
	err := line.Call(ctx, s.peer)
	_ = s.peer.Close(transport.ReasonInternal, "") // the gateway did, unless it is broken
	if err != nil {
		d.cfg.Log.Debug("call failed", zap.String("remote", s.peer.hello.Remote), zap.Error(err))
	}
}

// welcome answers that the call is set up.
func (d *Door) welcome(w http.ResponseWriter, r *http.Request, s *session) {
	h := w.Header()
	h.Set("Content-Type", offerType)
	h.Set("Location", location(r, s.id))
	etag, answer := s.answer()
	h.Set("ETag", etag)
	for _, server := range d.cfg.ICEServers {
		for _, u := range server.URLs {
			h.Add("Link", link(u, server))
		}
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
}

// link tells of an ICE server (RFC 9725 section 4.6).
func link(u string, s ICEServer) string {
	out := "<" + u + `>; rel="ice-server"`
	if strings.HasPrefix(u, "turn") {
		out += "; username=" + strconv.Quote(s.Username) + "; credential=" + strconv.Quote(s.Credential) +
			`; credential-type="password"`
	}
	return out
}

// givenUp is why the handshake of this context, which is done, ends.
func givenUp(ctx context.Context) *transport.Refused {
	e := transport.GivenUp(ctx)
	return &transport.Refused{Reason: e.Reason, Message: e.Message, RetryAfter: time.Second, Err: e.Err}
}

// read reads a body of at most most bytes, in bounded time, until ctx is done. When it could not, what
// is left of the body is not read either, so that the answer waits for nothing.
func (d *Door) read(ctx context.Context, w http.ResponseWriter, r *http.Request, most int64) (string, error) {
	c := http.NewResponseController(w)
	bounded := c.SetReadDeadline(time.Now().Add(d.cfg.ConnectTimeout)) == nil
	past := func() { _ = c.SetReadDeadline(time.Unix(1, 0)) }
	stop := context.AfterFunc(ctx, past)
	defer stop()
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return "", refused(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", most)
	case err != nil && ctx.Err() != nil:
		return "", givenUp(ctx)
	case err != nil:
		past()
		return "", refused(http.StatusBadRequest, "the body could not be read in time")
	}
	if bounded {
		_ = c.SetReadDeadline(time.Time{})
	}
	return string(b), nil
}

// helloOf takes the settings of a call from the header, or else from the query, which has room for what is no secret.
func helloOf(r *http.Request) (transport.Hello, error) {
	if text := r.Header.Get(HelloHeader); text != "" {
		if len(text) > HelloBytesMax {
			return transport.Hello{}, refused(http.StatusBadRequest, "%s has more than %d bytes", HelloHeader, HelloBytesMax)
		}
		h, err := ws.DecodeHello([]byte(text))
		if err != nil {
			return h, refused(http.StatusBadRequest, "%s: %v", HelloHeader, err)
		}
		return h, nil
	}
	q := r.URL.Query()
	on := func(key string) bool { return q.Get(key) == "true" || q.Get(key) == "1" }
	return transport.Hello{Version: transport.Version, Language: q.Get("language"), Instructions: q.Get("instructions"),
		Detection: transport.Detection(q.Get("detection")), Client: q.Get("client"), HalfDuplex: on("half_duplex"),
		ShowNet: on("show_net")}, nil
}

// bearer is the token of a request, "" for none (RFC 6750 section 2.1).
func bearer(r *http.Request) (string, error) {
	all := r.Header.Values("Authorization")
	if len(all) == 0 {
		return "", nil
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	token = strings.TrimSpace(token)
	if len(all) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" || len(token) > transport.TokenLenMax {
		return "", refused(http.StatusUnauthorized, "Authorization must be: Bearer TOKEN")
	}
	return token, nil
}

// isType tells whether the body is of a type, whatever its parameters.
func isType(r *http.Request, want string) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && t == want
}

// remote is the far end's address without port.
func remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return host[:min(len(host), transport.AddressLenMax)]
}

const idBytes = 16

// newID is the name of a session, which nobody guesses.
func newID() string {
	b := make([]byte, idBytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// isID tells whether a path's last part is a session's.
func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == idBytes && s == strings.ToLower(s)
}

// note logs a refusal.
func (d *Door) note(r *http.Request, err error) {
	d.cfg.Log.Info("request refused", zap.String("remote", r.RemoteAddr), zap.String("method", shorten(r.Method)),
		zap.Error(err))
}

// refuse answers with an error that a person can read.
func refuse(w http.ResponseWriter, err error) {
	status, why, lines := statusOf(err)
	if lines != nil && lines.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((lines.RetryAfter+time.Second-1)/time.Second)))
	}
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, why, status)
}
