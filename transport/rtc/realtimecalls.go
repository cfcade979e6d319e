package rtc

import (
	"context"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"path"
	"strings"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

const (
	formType        = "multipart/form-data"
	realtimeMethods = "OPTIONS, POST"

	// SessionBytesMax is the longest session configuration of a form.
	SessionBytesMax = 1 << 20
	// formBytesMax is a form with the longest offer and session, and the headers of its parts.
	formBytesMax = OfferBytesMax + SessionBytesMax + 4<<10
	formPartsMax = 8
)

// OpenCall opens a call for a request with a key and a session configuration: JSON, or nil. It returns
// the call token and the dialect of the call. The error is for admission.Refuse.
type OpenCall func(key string, session []byte) (token string, d Configurer, err error)

// RealtimeCalls returns a handler for browser clients of OpenAI's Realtime API, whose calls share the
// port, the limits and the end of the endpoint. A request has an offer as application/sdp, or as a
// form with the fields sdp and session. name becomes Hello.Endpoint. Mount the handler on the path
// that clients use, /v1/realtime/calls, and below it: POST to the address of a call and /hangup ends
// the call.
func (e *Endpoint) RealtimeCalls(name string, open OpenCall) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.serve(w, r, func() error {
			switch r.Method {
			case http.MethodOptions:
				w.Header().Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
				preflight(w, realtimeMethods)
				return nil
			case http.MethodPost:
			default:
				w.Header().Set("Allow", realtimeMethods)
				return admission.Refusal(http.StatusMethodNotAllowed, "method %s: a call begins with POST", shorten(r.Method))
			}
			if path.Base(r.URL.Path) == "hangup" {
				return e.hangUp(w, r)
			}
			return e.realtimeCall(w, r, name, open)
		})
	})
}

// realtimeCall answers an offer and starts a call, which its client configures over the data channel.
func (e *Endpoint) realtimeCall(w http.ResponseWriter, r *http.Request, name string, open OpenCall) error {
	detached := r.WithContext(context.WithoutCancel(r.Context())) // the handshake outlives the request
	s, err := e.begin(w, detached, func(ctx context.Context, line transport.Line, key string) (*session, error) {
		sdp, config, err := e.realtimeBody(ctx, w, r)
		if err != nil {
			return nil, err
		}
		o, err := parseOffer(sdp, takes{})
		if err != nil {
			return nil, err
		}
		token, dialect, err := open(key, config)
		if err != nil {
			return nil, err
		}
		s, err := e.agree(ctx, r, line, proposal{offer: o, name: name, token: token, dialect: dialect})
		if s != nil {
			s.token = key
		}
		return s, err
	})
	if err != nil {
		return err
	}
	e.welcome(w, r, s)
	return nil
}

// realtimeBody reads the offer of a request, and the session configuration if it has one.
func (e *Endpoint) realtimeBody(ctx context.Context, w http.ResponseWriter, r *http.Request) (sdp string,
	config []byte, err error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	most := int64(OfferBytesMax)
	switch {
	case err == nil && kind == formType:
		most = formBytesMax
	case err != nil || kind != offerType:
		return "", nil, admission.Refusal(http.StatusUnsupportedMediaType, "an offer is of type %s or %s", offerType,
			formType)
	}
	if sdp, err = e.read(ctx, w, r, most); err != nil || kind == offerType {
		return sdp, nil, err
	}
	return decodeForm(sdp, params["boundary"])
}

// decodeForm reads the fields sdp and session of a form. Others are ignored.
func decodeForm(body, boundary string) (sdp string, config []byte, err error) {
	form := multipart.NewReader(strings.NewReader(body), boundary)
	for range formPartsMax {
		part, err := form.NextRawPart()
		if err == io.EOF {
			break
		}
		var b []byte
		if err == nil {
			b, err = io.ReadAll(part)
		}
		if err != nil {
			return "", nil, admission.Refusal(http.StatusBadRequest, "the body is not %s", formType)
		}
		switch part.FormName() {
		case "sdp":
			sdp = string(b)
		case "session":
			config = b
		}
	}
	switch {
	case sdp == "":
		return "", nil, admission.Refusal(http.StatusBadRequest, "the form has no field sdp with an offer")
	case len(sdp) > OfferBytesMax:
		return "", nil, admission.Refusal(http.StatusRequestEntityTooLarge, "the offer has more than %d bytes", OfferBytesMax)
	case len(config) > SessionBytesMax:
		return "", nil, admission.Refusal(http.StatusRequestEntityTooLarge, "the session has more than %d bytes",
			SessionBytesMax)
	}
	return sdp, config, nil
}

// hangUp ends a call for the client that began it.
func (e *Endpoint) hangUp(w http.ResponseWriter, r *http.Request) error {
	key, err := bearer(r)
	if err != nil {
		return err
	}
	s := e.owned(path.Base(path.Dir(r.URL.Path)), key)
	if s == nil {
		return admission.Refusal(http.StatusNotFound, "there is no such call, or no longer, or the key is not its own")
	}
	s.peer.hangUp()
	w.WriteHeader(http.StatusOK)
	return nil
}
