package rtc

import (
	"context"
	"crypto/subtle"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

const sessionMethods = "DELETE, OPTIONS, PATCH"

// session is a call as WHIP sees it.
type session struct {
	id    string
	offer *offer
	peer  *peer
	token string // of the request that made it; later requests must show the same token

	mu         sync.Mutex // held while ICE is negotiated
	ufrag, pwd string     // current ones of the far end
	restarts   int
}

func newSession(id string, o *offer, p *peer, token string) *session {
	return &session{id: id, offer: o, peer: p, token: token, ufrag: o.ufrag, pwd: o.pwd}
}

// configured waits for the settings of a call that come over the data channel, and checks them. If
// the gateway refuses them, the far end is told why.
func (s *session) configured(handshake context.Context, line transport.Line) error {
	if !s.peer.late() {
		return nil
	}
	err := s.peer.greets(handshake)
	if err == nil {
		err = line.Check(handshake, &s.peer.hello)
	}
	if err != nil {
		e := transport.Refusal(handshake, err)
		_ = s.peer.Close(e.Reason, e.Message)
	}
	return err
}

// answer returns the current answer, with all candidates, and the name of the ICE session.
func (s *session) answer() (etag, sdp string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.etag(), oneComponent(s.peer.pc.LocalDescription().SDP)
}

// etag returns the name of the ICE session; the caller holds mu.
func (s *session) etag() string { return strconv.Quote("ice-" + strconv.Itoa(s.restarts+1)) }

// serveSession implements RFC 9725 sections 4.2 and 4.3.
func (e *Endpoint) serveSession(w http.ResponseWriter, r *http.Request, id string) error {
	if r.Method == http.MethodOptions {
		w.Header().Set("Accept-Patch", fragmentType)
		preflight(w, sessionMethods)
		return nil
	}
	if r.Method != http.MethodPatch && r.Method != http.MethodDelete {
		w.Header().Set("Allow", sessionMethods)
		return admission.Refusal(http.StatusMethodNotAllowed, "method %s: a session takes %s", shorten(r.Method),
			sessionMethods)
	}
	s := e.find(id)
	if s == nil {
		return admission.Refusal(http.StatusNotFound, "there is no such session, or no longer")
	}
	token, err := bearer(r)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return admission.Refusal(http.StatusUnauthorized, "the token is not the one this session was made with")
	}
	if r.Method == http.MethodDelete {
		s.peer.hangUp()
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return e.patch(w, r, s)
}

// patch takes a candidate of the far end, or restarts ICE.
func (e *Endpoint) patch(w http.ResponseWriter, r *http.Request, s *session) error {
	if !isType(r, fragmentType) {
		w.Header().Set("Accept-Patch", fragmentType)
		return admission.Refusal(http.StatusUnsupportedMediaType, "a fragment is of type %s", fragmentType)
	}
	match := r.Header.Get("If-Match")
	if match == "" {
		return admission.Refusal(http.StatusPreconditionRequired, "If-Match must name the ICE session, or be *")
	}
	body, err := e.read(r.Context(), w, r, FragmentBytesMax)
	if err != nil {
		return err
	}
	f, err := parseFragment(body)
	if err != nil {
		return admission.Refusal(http.StatusBadRequest, "the fragment: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.matches(match) {
		return admission.Refusal(http.StatusPreconditionFailed, "If-Match does not name the ICE session, which is %s",
			s.etag())
	}
	if f.ufrag == s.ufrag && f.pwd == s.pwd {
		s.trickle(f, e.cfg.FullICE)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return s.restart(w, f)
}

// matches reports whether If-Match fits; the caller holds mu. The RFC writes the star in quotes.
func (s *session) matches(header string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || tag == `"*"` || tag == s.etag() {
			return true
		}
	}
	return false
}

// trickle takes the far end's candidates; the caller holds mu. ICE-lite needs none: it waits for
// the far end's checks.
func (s *session) trickle(f *fragment, full bool) {
	if !full {
		return
	}
	for _, c := range f.candidates {
		if !s.peer.ways.take(c) {
			s.peer.ignored.Add(1)
			continue
		}
		if s.peer.pc.AddICECandidate(webrtc.ICECandidateInit{Candidate: c, SDPMid: &s.offer.mid}) != nil {
			s.peer.ignored.Add(1) // an unusable one
		}
	}
}

// restart begins a new ICE session; the caller holds mu. The call goes on, and its audio resumes
// when there is a path again.
func (s *session) restart(w http.ResponseWriter, f *fragment) error {
	if f.ufrag == s.ufrag || f.pwd == s.pwd {
		return admission.Refusal(http.StatusBadRequest, "an ICE restart changes both a=ice-ufrag and a=ice-pwd")
	}
	if s.restarts >= RestartsMax {
		return admission.Refusal(http.StatusTooManyRequests, "ICE was restarted %d times in this call", s.restarts)
	}
	if err := s.peer.answer(s.offer.restarted(f.ufrag, f.pwd)); err != nil {
		return err
	}
	s.ufrag, s.pwd = f.ufrag, f.pwd
	s.restarts++
	s.peer.ways.restart()
	s.trickle(f, s.peer.cfg.FullICE)
	w.Header().Set("Content-Type", fragmentType)
	w.Header().Set("ETag", s.etag())
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, fragmentOf(oneComponent(s.peer.pc.LocalDescription().SDP)))
	return nil
}
