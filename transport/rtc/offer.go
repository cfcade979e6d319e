package rtc

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"
)

// Limits of an offer.
const (
	sectionsMax   = 4
	attributesMax = 256 // of a section
	credentialMax = 256 // RFC 8839 section 5.4
)

// A refusal is an HTTP status with the reason for people.
type refusal struct {
	status int
	why    string
}

func (r *refusal) Error() string { return r.why }

func refused(status int, format string, args ...any) error {
	return &refusal{status: status, why: fmt.Sprintf(format, args...)}
}

// An offer is what a caller's SDP says, as far as it matters here.
type offer struct {
	text       string
	mid        string // of the sound
	ufrag, pwd string
	kinds      [128]Codec // by payload type
	data       bool       // whether there is a data channel
}

// parseOffer reads an offer: one section of sound, both ways, and at most one for a data channel, bundled. The error is
// a *refusal: 400 for what is no offer, 406 for one that cannot be answered, 422 for a role we do not take.
func parseOffer(text string) (*offer, error) {
	if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") { // a line's end for the library, not for us
		return nil, refused(http.StatusBadRequest, "the offer is not SDP: a line ends with CR and no LF")
	}
	var s sdp.SessionDescription
	if err := s.UnmarshalString(text); err != nil {
		return nil, refused(http.StatusBadRequest, "the offer is not SDP")
	}
	switch n := len(s.MediaDescriptions); {
	case n == 0:
		return nil, refused(http.StatusBadRequest, "the offer is not SDP with a media section")
	case n > sectionsMax:
		return nil, refused(http.StatusNotAcceptable, "the offer has %d media sections, at most %d", n, sectionsMax)
	}
	o := &offer{text: text}
	for _, m := range s.MediaDescriptions {
		if len(m.Attributes) > attributesMax {
			return nil, refused(http.StatusBadRequest, "a media section has more than %d attributes", attributesMax)
		}
		if err := o.section(&s, m); err != nil {
			return nil, err
		}
	}
	if o.mid == "" {
		return nil, refused(http.StatusNotAcceptable, "the offer has no section m=audio with an a=mid")
	}
	return o, o.bundled(&s)
}

// section takes one media section.
func (o *offer) section(s *sdp.SessionDescription, m *sdp.MediaDescription) error {
	switch {
	case m.MediaName.Media == "audio" && o.mid == "":
		if err := o.security(s, m); err != nil {
			return err
		}
		return o.sound(m)
	case m.MediaName.Media == "application" && !o.data && slices.Contains(m.MediaName.Formats, "webrtc-datachannel"):
		o.data = true
		return nil
	}
	return refused(http.StatusNotAcceptable, "the offer has a section too many; one of audio and one for a data "+
		"channel are right")
}

// attribute is an attribute of a section or else of the whole.
func attribute(s *sdp.SessionDescription, m *sdp.MediaDescription, key string) string {
	if v, ok := m.Attribute(key); ok {
		return v
	}
	v, _ := s.Attribute(key)
	return v
}

// security takes what ICE and DTLS need.
func (o *offer) security(s *sdp.SessionDescription, m *sdp.MediaDescription) error {
	o.ufrag, o.pwd = attribute(s, m, "ice-ufrag"), attribute(s, m, "ice-pwd")
	if err := checkCredentials(o.ufrag, o.pwd); err != nil {
		return refused(http.StatusBadRequest, "%v", err)
	}
	if !isFingerprint(attribute(s, m, "fingerprint")) {
		return refused(http.StatusBadRequest, "the offer has no a=fingerprint of sha-256, sha-384 or sha-512")
	}
	switch attribute(s, m, "setup") {
	case "actpass", "passive":
		return nil
	case "active":
		return refused(http.StatusUnprocessableEntity, "a=setup:active is not supported; offer actpass")
	}
	return refused(http.StatusBadRequest, "the offer has no a=setup:actpass")
}

// isFingerprint tells the fingerprint of a certificate (RFC 8122 section 5), by a hash that holds today.
func isFingerprint(s string) bool {
	hash, sum, _ := strings.Cut(s, " ")
	bits, err := strconv.Atoi(strings.TrimPrefix(strings.ToLower(hash), "sha-"))
	b, bad := hex.DecodeString(strings.ReplaceAll(sum, ":", ""))
	return err == nil && bad == nil && slices.Contains([]int{256, 384, 512}, bits) && len(b) == bits/8
}

// checkCredentials holds the name and password of ICE to their lengths and letters (RFC 8839 section 5.4).
func checkCredentials(ufrag, pwd string) error {
	if len(ufrag) < 4 || len(ufrag) > credentialMax || len(pwd) < 22 || len(pwd) > credentialMax {
		return errors.New("a=ice-ufrag must have 4 to 256 characters and a=ice-pwd 22 to 256")
	}
	if strings.ContainsFunc(ufrag+pwd, notICE) {
		return errors.New("a=ice-ufrag and a=ice-pwd may have letters, digits, + and / only")
	}
	return nil
}

// notICE tells what is no ice-char. Some agents use the hyphen and the underscore, which do no harm.
func notICE(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("+/-_=", r)
}

// sound takes the section of sound.
func (o *offer) sound(m *sdp.MediaDescription) error {
	mid, _ := m.Attribute("mid")
	if o.mid = mid; mid == "" || len(mid) > 64 || m.MediaName.Port.Value == 0 {
		return refused(http.StatusBadRequest, "the section m=audio is switched off, or has no a=mid")
	}
	for _, other := range []string{"sendonly", "recvonly", "inactive"} {
		if _, ok := m.Attribute(other); ok {
			return refused(http.StatusNotAcceptable, "the sound is a=%s; a call goes both ways: a=sendrecv", other)
		}
	}
	if _, ok := m.Attribute("rtcp-mux"); !ok {
		return refused(http.StatusNotAcceptable, "the section m=audio has no a=rtcp-mux")
	}
	for _, format := range m.MediaName.Formats {
		if n, err := strconv.ParseUint(format, 10, 7); err == nil {
			o.kinds[n] = codecOf(m, format)
		}
	}
	if !slices.ContainsFunc(o.kinds[:], func(c Codec) bool { return c != 0 && c != telephoneEvent }) {
		return refused(http.StatusNotAcceptable, "no codec offered is known here; known are %v", codecs())
	}
	return nil
}

// codecOf is the codec of a payload type: by its a=rtpmap, else by its number (RFC 3551 table 4).
func codecOf(m *sdp.MediaDescription, format string) Codec {
	for _, a := range m.Attributes {
		if a.Key != "rtpmap" {
			continue
		}
		if rest, ok := strings.CutPrefix(a.Value, format+" "); ok {
			return codecNamed(strings.ToLower(strings.TrimSpace(rest)))
		}
	}
	switch format {
	case "0":
		return PCMU
	case "8":
		return PCMA
	case "9":
		return G722
	}
	return 0
}

func codecNamed(rtpmap string) Codec {
	switch strings.TrimSuffix(rtpmap, "/1") {
	case "opus/48000/2":
		return Opus
	case "g722/8000":
		return G722
	case "pcmu/8000":
		return PCMU
	case "pcma/8000":
		return PCMA
	case "telephone-event/8000", "telephone-event/48000":
		return telephoneEvent
	}
	return 0
}

// bundled wants everything on one transport.
func (o *offer) bundled(s *sdp.SessionDescription) error {
	group, _ := s.Attribute("group")
	if o.data && !strings.HasPrefix(group, "BUNDLE ") {
		return refused(http.StatusNotAcceptable, "the sections must share one transport: a=group:BUNDLE")
	}
	return nil
}

// down is the best of the codecs we speak that the caller knows.
func (o *offer) down(ours []Codec) (Codec, error) {
	for _, c := range ours {
		if slices.Contains(o.kinds[:], c) {
			return c, nil
		}
	}
	return 0, refused(http.StatusNotAcceptable, "no codec offered can be spoken here; spoken are %v", ours)
}

// restarted is the offer with other ICE credentials and without candidates: what a caller means who restarts ICE with a
// fragment. Bumping the version is left out: nothing but the credentials differs.
func (o *offer) restarted(ufrag, pwd string) string {
	var b strings.Builder
	for line := range strings.Lines(o.text) {
		switch {
		case strings.HasPrefix(line, "a=ice-ufrag:"):
			line = "a=ice-ufrag:" + ufrag + "\r\n"
		case strings.HasPrefix(line, "a=ice-pwd:"):
			line = "a=ice-pwd:" + pwd + "\r\n"
		case strings.HasPrefix(line, "a=candidate:"), strings.HasPrefix(line, "a=end-of-candidates"):
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// shorten cuts what came from outside before it goes into a sentence.
func shorten(s string) string {
	const most = 80
	s = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s), "?")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
