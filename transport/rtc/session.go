package rtc

import (
	"crypto/subtle"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/pion/webrtc/v4"
)

const sessionMethods = "DELETE, OPTIONS, PATCH"

// session is a call as WHIP sees it.
type session struct {
	id    string
	offer *offer
	peer  *peer
	token string // of the request that made it; the others must show the same

	mu         sync.Mutex // held while ICE is negotiated
	ufrag, pwd string     // of the far end now
	restarts   int
}

func newSession(id string, o *offer, p *peer, token string) *session {
	return &session{id: id, offer: o, peer: p, token: token, ufrag: o.ufrag, pwd: o.pwd}
}

// answer is the answer as it stands, with all candidates, and the name of the ICE session.
func (s *session) answer() (etag, sdp string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.etag(), s.peer.pc.LocalDescription().SDP
}

// etag names the ICE session; mu is held.
func (s *session) etag() string { return strconv.Quote("ice-" + strconv.Itoa(s.restarts+1)) }

// serveSession is RFC 9725 sections 4.2 and 4.3.
func (d *Door) serveSession(w http.ResponseWriter, r *http.Request, id string) error {
	if r.Method == http.MethodOptions {
		w.Header().Set("Accept-Patch", fragmentType)
		preflight(w, sessionMethods)
		return nil
	}
	if r.Method != http.MethodPatch && r.Method != http.MethodDelete {
		w.Header().Set("Allow", sessionMethods)
		return refused(http.StatusMethodNotAllowed, "method %s: a session takes %s", shorten(r.Method), sessionMethods)
	}
	s := d.find(id)
	if s == nil {
		return refused(http.StatusNotFound, "there is no such session, or no longer")
	}
	token, err := bearer(r)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return refused(http.StatusUnauthorized, "the token is not the one this session was made with")
	}
	if r.Method == http.MethodDelete {
		s.peer.hangUp()
		w.WriteHeader(http.StatusOK)
		return nil
	}
	return d.patch(w, r, s)
}

// patch takes a candidate of the far end, or restarts ICE.
func (d *Door) patch(w http.ResponseWriter, r *http.Request, s *session) error {
	if !isType(r, fragmentType) {
		w.Header().Set("Accept-Patch", fragmentType)
		return refused(http.StatusUnsupportedMediaType, "a fragment is of type %s", fragmentType)
	}
	match := r.Header.Get("If-Match")
	if match == "" {
		return refused(http.StatusPreconditionRequired, "If-Match must name the ICE session, or be *")
	}
	body, err := d.read(r.Context(), w, r, FragmentBytesMax)
	if err != nil {
		return err
	}
	f, err := parseFragment(body)
	if err != nil {
		return refused(http.StatusBadRequest, "the fragment: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.matches(match) {
		return refused(http.StatusPreconditionFailed, "If-Match does not name the ICE session, which is %s", s.etag())
	}
	if f.ufrag == s.ufrag && f.pwd == s.pwd {
		s.trickle(f, d.cfg.FullICE)
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	return s.restart(w, f)
}

// matches tells whether If-Match fits; mu is held. The RFC writes the star in quotes.
func (s *session) matches(header string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		if tag = strings.TrimSpace(tag); tag == "*" || tag == `"*"` || tag == s.etag() {
			return true
		}
	}
	return false
}

// trickle takes the far end's candidates; mu is held. ICE-lite waits to be found and needs none.
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
			s.peer.ignored.Add(1) // one that cannot be used
		}
	}
}

// restart begins a new ICE session; mu is held. The call goes on, and its sound as soon as there is a way again.
func (s *session) restart(w http.ResponseWriter, f *fragment) error {
	if f.ufrag == s.ufrag || f.pwd == s.pwd {
		return refused(http.StatusBadRequest, "an ICE restart changes both a=ice-ufrag and a=ice-pwd")
	}
	if s.restarts >= RestartsMax {
		return refused(http.StatusTooManyRequests, "ICE was restarted %d times in this call", s.restarts)
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
	_, _ = io.WriteString(w, fragmentOf(s.peer.pc.LocalDescription().SDP))
	return nil
}
