package rtc

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"net/http"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

const (
	jsonType    = "application/json"
	jsonMethods = "OPTIONS, PATCH, POST"

	// offerJSONBytesMax is an offer of OfferBytesMax with its line ends escaped, and requestData.
	offerJSONBytesMax = 2 * OfferBytesMax
)

// SmallWebRTC returns a handler for clients of Pipecat's SmallWebRTCTransport, whose calls share
// the port, the limits and the end of the endpoint. Offers and answers are JSON; sections of video
// are rejected. dialect makes the encoder of a call's events on its data channel, and name becomes
// Hello.Endpoint. Mount the handler on the path that clients use, such as /api/offer.
func (e *Endpoint) SmallWebRTC(name string, dialect func() Dialect) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.serve(w, r, func() error {
			switch r.Method {
			case http.MethodOptions:
				preflight(w, jsonMethods)
				return nil
			case http.MethodPost, http.MethodPatch:
			default:
				w.Header().Set("Allow", jsonMethods)
				return admission.Refusal(http.StatusMethodNotAllowed, "method %s: a call begins with POST", shorten(r.Method))
			}
			if !isType(r, jsonType) {
				return admission.Refusal(http.StatusUnsupportedMediaType, "an offer is of type %s", jsonType)
			}
			if r.Method == http.MethodPatch {
				return e.candidates(w, r)
			}
			return e.offered(w, r, name, dialect)
		})
	})
}

// offerJSON is an offer of Pipecat's client.
type offerJSON struct {
	SDP         string          `json:"sdp"`
	Type        string          `json:"type"`
	ID          string          `json:"pc_id"`
	Restart     bool            `json:"restart_pc"`
	RequestData json.RawMessage `json:"requestData"`
	SnakeData   json.RawMessage `json:"request_data"` // the same, from other clients

	params map[string]string // of requestData
}

// decode reads an offer.
func (o *offerJSON) decode(body string) error {
	if json.Unmarshal([]byte(body), o) != nil || o.SDP == "" || o.Type != "offer" {
		return admission.Refusal(http.StatusBadRequest, `the body is not JSON with an "sdp" of "type":"offer"`)
	}
	if len(o.SDP) > OfferBytesMax {
		return admission.Refusal(http.StatusRequestEntityTooLarge, "the offer has more than %d bytes", OfferBytesMax)
	}
	if len(o.RequestData) == 0 {
		o.RequestData = o.SnakeData
	}
	var fields map[string]json.RawMessage
	if len(o.RequestData) > 0 && json.Unmarshal(o.RequestData, &fields) != nil {
		return admission.Refusal(http.StatusBadRequest, "requestData must be an object: its fields become params of the call")
	}
	o.params = make(map[string]string, len(fields))
	for name, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		o.params[name] = text
	}
	return nil
}

// offered answers an offer: of a new call, or a new one of a call that runs. A client that makes its
// connection anew (restart_pc) gets a new call, and leaves the old one.
func (e *Endpoint) offered(w http.ResponseWriter, r *http.Request, name string,
	dialect func() Dialect) error {
	s, err := e.begin(w, r, func(ctx context.Context, line transport.Line, token string) (*session, error) {
		body, err := e.read(ctx, w, r, offerJSONBytesMax)
		if err != nil {
			return nil, err
		}
		var text offerJSON
		if err := text.decode(body); err != nil {
			return nil, err
		}
		o, err := parseOffer(text.SDP, takes{video: true})
		if err != nil {
			return nil, err
		}
		if !o.data {
			return nil, admission.Refusal(http.StatusNotAcceptable, "the offer has no section for a data channel")
		}
		old := e.owned(text.ID, token)
		if old != nil && !text.Restart {
			return old, old.renegotiate(o)
		}
		if old != nil {
			old.peer.hangUp()
		}
		return e.agree(ctx, r, line, proposal{offer: o, name: name, token: token, dialect: dialect(),
			params: text.params})
	})
	if err != nil {
		return err
	}
	_, answer := s.answer()
	w.Header().Set("Content-Type", jsonType)
	return json.NewEncoder(w).Encode(map[string]string{"sdp": answer, "type": "answer", "pc_id": s.id})
}

// owned returns the session with an id if it was made with the token, else nil.
func (e *Endpoint) owned(id, token string) *session {
	s := e.find(id)
	if s == nil || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return nil
	}
	return s
}

// renegotiate answers another offer of a call that runs, as one that restarts ICE.
func (s *session) renegotiate(o *offer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.restarts >= RestartsMax {
		return admission.Refusal(http.StatusTooManyRequests, "the call has had %d offers", s.restarts)
	}
	if err := s.peer.answer(o.restarted(o.ufrag, o.pwd)); err != nil {
		return err
	}
	s.offer, s.ufrag, s.pwd = o, o.ufrag, o.pwd
	s.restarts++
	s.peer.ways.restart()
	return nil
}

// candidatesJSON are candidates of Pipecat's client.
type candidatesJSON struct {
	ID         string `json:"pc_id"`
	Candidates []struct {
		Candidate string `json:"candidate"`
	} `json:"candidates"`
}

// candidates takes a caller's candidates. ICE-lite needs none.
func (e *Endpoint) candidates(w http.ResponseWriter, r *http.Request) error {
	token, err := bearer(r)
	if err != nil {
		return err
	}
	body, err := e.read(r.Context(), w, r, FragmentBytesMax)
	if err != nil {
		return err
	}
	var c candidatesJSON
	if json.Unmarshal([]byte(body), &c) != nil || len(c.Candidates) > candidatesMax {
		return admission.Refusal(http.StatusBadRequest, `the body is not JSON with at most %d "candidates"`, candidatesMax)
	}
	s := e.owned(c.ID, token)
	if s == nil {
		return admission.Refusal(http.StatusNotFound, "there is no such session, or no longer, or the token is not its own")
	}
	f := fragment{}
	for _, c := range c.Candidates {
		if c.Candidate != "" && len(c.Candidate) <= candidateLenMax {
			f.candidates = append(f.candidates, c.Candidate)
		}
	}
	s.mu.Lock()
	s.trickle(&f, e.cfg.FullICE)
	s.mu.Unlock()
	w.Header().Set("Content-Type", jsonType)
	_, err = w.Write([]byte(`{"status":"success"}`))
	return err
}
