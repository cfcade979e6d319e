package rtc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/ws"
)

// HelloHeader is the header of the first request that carries the settings of a call: a hello as
// JSON, as in the WebSocket protocol. The endpoint ignores its rates, which the codecs decide, and
// its token, which has its own header.
const HelloHeader = "Voicegw-Hello"

const (
	offerType    = "application/sdp"
	fragmentType = "application/trickle-ice-sdpfrag"

	endpointMethods = "OPTIONS, POST"
)

// serveEndpoint implements RFC 9725 section 4.2.
func (e *Endpoint) serveEndpoint(w http.ResponseWriter, r *http.Request) error {
	switch r.Method {
	case http.MethodOptions:
		w.Header().Set("Accept-Post", offerType)
		preflight(w, endpointMethods)
		return nil
	case http.MethodPost:
		return e.create(w, r)
	}
	w.Header().Set("Allow", endpointMethods)
	return admission.Refusal(http.StatusMethodNotAllowed, "method %s: a call begins with POST", shorten(r.Method))
}

// create answers an offer and starts a call.
func (e *Endpoint) create(w http.ResponseWriter, r *http.Request) error {
	if !isType(r, offerType) {
		w.Header().Set("Accept-Post", offerType)
		return admission.Refusal(http.StatusUnsupportedMediaType, "an offer is of type %s", offerType)
	}
	s, err := e.begin(w, r, func(ctx context.Context, line transport.Line, token string) (*session, error) {
		body, err := e.read(ctx, w, r, OfferBytesMax)
		if err != nil {
			return nil, err
		}
		o, err := parseOffer(body, takes{oneWay: e.cfg.OneWay})
		if err != nil {
			return nil, err
		}
		return e.agree(ctx, r, line, proposal{offer: o, name: "webrtc", token: token})
	})
	if err != nil {
		return err
	}
	e.welcome(w, r, s)
	return nil
}

// begin takes a line, has agree make the session, and starts its call. A session whose call runs
// already takes no line.
func (e *Endpoint) begin(w http.ResponseWriter, r *http.Request,
	agree func(ctx context.Context, line transport.Line, token string) (*session, error)) (*session, error) {
	token, err := bearer(r)
	if err != nil {
		return nil, err
	}
	handshake, call, line, err := e.visits.Begin(r, e.cfg.Lines, false)
	if err != nil {
		return nil, fmt.Errorf("take a line: %w", err)
	}
	calls := false
	defer func() {
		if !calls { // refused, or panicked over the offer, or a call that runs
			line.Release()
		}
	}()
	s, err := agree(handshake, line, token)
	if err != nil || e.find(s.id) == s {
		return s, err
	}
	e.add(s)
	calls = true
	go e.call(handshake, call, line, s) // Close waits for it
	return s, nil
}

// proposal is an offer and what comes with it.
type proposal struct {
	offer   *offer
	name    string // of the endpoint
	token   string
	dialect Dialect           // of the events; nil: the gateway's own
	params  map[string]string // besides those of the hello
}

// agree checks the hello of a proposal with the gateway and answers.
func (e *Endpoint) agree(ctx context.Context, r *http.Request, line transport.Line, prop proposal) (*session, error) {
	o := prop.offer
	down, err := o.down(e.cfg.Codecs)
	if err != nil {
		return nil, err
	}
	hello, err := helloOf(r)
	if err != nil {
		return nil, err
	}
	hello.InputRateHz, hello.OutputRateHz = inputRateHz, down.rateHz()
	hello.Token, hello.Endpoint, hello.Remote = prop.token, prop.name, admission.Remote(r)
	hello.Messages = o.data
	for name, value := range prop.params {
		if hello.Params == nil {
			hello.Params = map[string]string{}
		}
		hello.Params[name] = value
	}
	if _, late := prop.dialect.(Configurer); late {
		_, err = transport.Admit(ctx, line, &hello)
	} else {
		err = line.Check(ctx, &hello)
	}
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = givenUp(ctx)
		}
		return nil, fmt.Errorf("check the hello: %w", err)
	}
	if ctx.Err() != nil {
		return nil, givenUp(ctx)
	}
	cfg := e.cfg
	cfg.ICEServers = e.iceServers()
	p, err := e.engine.newPeer(cfg, prop, hello, down)
	if err != nil {
		return nil, err
	}
	return newSession(newID(), o, p, prop.token), nil
}

// call runs a call to its end.
func (e *Endpoint) call(handshake, ctx context.Context, line transport.Line, s *session) {
	defer line.Release()
	defer e.remove(s)
	err := s.configured(handshake, line)
	if err == nil {
		err = line.Call(ctx, s.peer)
	}
	_ = s.peer.Close(transport.ReasonInternal, "") // the gateway has closed it, unless it is broken
	if err != nil {
		e.cfg.Log.Debug("call failed", zap.String("remote", s.peer.hello.Remote), zap.Error(err))
	}
}

// welcome answers that the call is set up.
func (e *Endpoint) welcome(w http.ResponseWriter, r *http.Request, s *session) {
	h := w.Header()
	h.Set("Content-Type", offerType)
	h.Set("Location", location(r, s.id))
	etag, answer := s.answer()
	h.Set("ETag", etag)
	for _, server := range s.peer.cfg.ICEServers {
		for _, u := range server.URLs {
			h.Add("Link", link(u, server))
		}
	}
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, answer)
}

// link returns the Link header of an ICE server (RFC 9725 section 4.6).
func link(u string, s ICEServer) string {
	out := "<" + u + `>; rel="ice-server"`
	if strings.HasPrefix(u, "turn") {
		out += "; username=" + strconv.Quote(s.Username) + "; credential=" + strconv.Quote(s.Credential) +
			`; credential-type="password"`
	}
	return out
}

// givenUp returns the refusal of a handshake whose context is done.
func givenUp(ctx context.Context) *transport.Refused {
	e := transport.GivenUp(ctx)
	return &transport.Refused{Reason: e.Reason, Message: e.Message, RetryAfter: time.Second, Err: e.Err}
}

// read reads a body of at most most bytes, in bounded time, until ctx is done. When it fails, it
// leaves the rest of the body unread, so that the answer does not wait.
func (e *Endpoint) read(ctx context.Context, w http.ResponseWriter, r *http.Request, most int64) (string, error) {
	c := http.NewResponseController(w)
	bounded := c.SetReadDeadline(time.Now().Add(e.cfg.ConnectTimeout)) == nil
	past := func() { _ = c.SetReadDeadline(time.Unix(1, 0)) }
	stop := context.AfterFunc(ctx, past)
	defer stop()
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return "", admission.Refusal(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", most)
	case err != nil && ctx.Err() != nil:
		return "", givenUp(ctx)
	case err != nil:
		past()
		return "", admission.Refusal(http.StatusBadRequest, "the body could not be read in time")
	}
	if bounded {
		_ = c.SetReadDeadline(time.Time{})
	}
	return string(b), nil
}

// helloOf takes the settings of a call from the header, or else from the query, which must not
// contain secrets.
func helloOf(r *http.Request) (transport.Hello, error) {
	if text := r.Header.Get(HelloHeader); text != "" {
		if len(text) > HelloBytesMax {
			return transport.Hello{}, admission.Refusal(http.StatusBadRequest, "%s has more than %d bytes", HelloHeader,
				HelloBytesMax)
		}
		h, err := ws.DecodeHello([]byte(text))
		if err != nil {
			return h, admission.Refusal(http.StatusBadRequest, "%s: %v", HelloHeader, err)
		}
		return h, nil
	}
	q := r.URL.Query()
	on := func(key string) bool { return q.Get(key) == "true" || q.Get(key) == "1" }
	return transport.Hello{Version: transport.Version, Language: q.Get("language"), Instructions: q.Get("instructions"),
		Detection: transport.Detection(q.Get("detection")), Client: q.Get("client"), HalfDuplex: on("half_duplex"),
		ShowNet: on("show_net")}, nil
}

// bearer returns the bearer token of a request, "" for none (RFC 6750 section 2.1). It accepts no
// other scheme.
func bearer(r *http.Request) (string, error) {
	token, ok := admission.Bearer(r.Header)
	if !ok || token == "" && r.Header.Get("Authorization") != "" {
		return "", admission.Refusal(http.StatusUnauthorized, "Authorization must be: Bearer TOKEN")
	}
	return token, nil
}

// isType reports whether the body has a type, whatever its parameters.
func isType(r *http.Request, want string) bool {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && t == want
}

const idBytes = 16

// newID returns a session id that cannot be guessed.
func newID() string {
	b := make([]byte, idBytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// isID reports whether the last part of a path is a session's id.
func isID(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == idBytes && s == strings.ToLower(s)
}

// note logs a refusal.
func (e *Endpoint) note(r *http.Request, err error) {
	transport.RefusalLog(e.cfg.Log).Info("request refused", zap.String("remote", r.RemoteAddr),
		zap.String("method", shorten(r.Method)), zap.Error(err))
}
