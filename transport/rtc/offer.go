package rtc

import (
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pion/sdp/v3"

	"github.com/voicegw/voicegw/transport/admission"
)

// Limits of an offer.
const (
	sectionsMax   = 4
	attributesMax = 256 // of a section
	credentialMax = 256 // RFC 8839 section 5.4
)

// offer holds the supported part of a caller's SDP.
type offer struct {
	text       string
	mid        string // of the audio section
	ufrag, pwd string
	kinds      [128]Codec // by payload type
	data       bool       // whether there is a data channel
	direction  string     // of the audio, as the caller says it
	videos     int        // sections of video; the answer rejects them
}

// Directions of an audio section.
const (
	bothWays   = "sendrecv"
	upOnly     = "sendonly" // a publisher: the caller hears nothing
	downOnly   = "recvonly" // a listener: the caller says nothing
	neitherWay = "inactive"
)

// takes is what an offer may have besides the usual.
type takes struct {
	oneWay bool // audio one way; such an offer may have video too
	video  bool // sections of video, which the answer rejects
}

// parseOffer reads an offer: one section of audio and at most one for a data channel, bundled. The
// error is a refusal with a status: 400 for an invalid offer, 406 for one that cannot be answered,
// 422 for an unsupported role.
func parseOffer(text string, t takes) (*offer, error) {
	if strings.Contains(strings.ReplaceAll(text, "\r\n", ""), "\r") { // a line end for the library, not for us
		return nil, admission.Refusal(http.StatusBadRequest, "the offer is not SDP: a line ends with CR and no LF")
	}
	var s sdp.SessionDescription
	if err := s.UnmarshalString(text); err != nil {
		return nil, admission.Refusal(http.StatusBadRequest, "the offer is not SDP")
	}
	switch n := len(s.MediaDescriptions); {
	case n == 0:
		return nil, admission.Refusal(http.StatusBadRequest, "the offer is not SDP with a media section")
	case n > sectionsMax:
		return nil, admission.Refusal(http.StatusNotAcceptable, "the offer has %d media sections, at most %d", n, sectionsMax)
	}
	o := &offer{text: text}
	for _, m := range s.MediaDescriptions {
		if len(m.Attributes) > attributesMax {
			return nil, admission.Refusal(http.StatusBadRequest, "a media section has more than %d attributes", attributesMax)
		}
		if err := o.section(&s, m); err != nil {
			return nil, err
		}
	}
	if o.mid == "" {
		return nil, admission.Refusal(http.StatusNotAcceptable, "the offer has no section m=audio with an a=mid")
	}
	if err := o.directed(t); err != nil {
		return nil, err
	}
	return o, o.bundled(&s)
}

// directed refuses directions that the endpoint does not take, and video in a call both ways.
func (o *offer) directed(t takes) error {
	switch {
	case o.direction == neitherWay:
		return admission.Refusal(http.StatusNotAcceptable, "the sound is a=inactive; offer a=sendrecv")
	case o.direction != bothWays && !t.oneWay:
		return admission.Refusal(http.StatusNotAcceptable, "the sound is a=%s; a call goes both ways: offer a=sendrecv, "+
			"or let the gateway take calls one way (OneWay)", o.direction)
	case o.direction == bothWays && o.videos > 0 && !t.video:
		return admission.Refusal(http.StatusNotAcceptable, "the offer has a section of video; "+onlySections)
	}
	return nil
}

// onlySections says what an offer may have.
const onlySections = "one of audio and one for a data channel are right"

// hears reports whether the caller takes audio.
func (o *offer) hears() bool { return o.direction != upOnly }

// section takes one media section.
func (o *offer) section(s *sdp.SessionDescription, m *sdp.MediaDescription) error {
	switch {
	case m.MediaName.Media == "audio" && o.mid == "":
		if err := o.security(s, m); err != nil {
			return err
		}
		return o.sound(s, m)
	case m.MediaName.Media == "application" && !o.data && isDataChannel(m):
		o.data = true
		return nil
	case m.MediaName.Media == "video":
		o.videos++
		return nil
	}
	return admission.Refusal(http.StatusNotAcceptable, "the offer has a section too many; "+onlySections)
}

// isDataChannel reports whether a section is for data channels: as RFC 8841 has it, or as drafts
// before it did, which aiortc up to 1.13 offers.
func isDataChannel(m *sdp.MediaDescription) bool {
	draft, _ := m.Attribute("sctpmap")
	return slices.Contains(m.MediaName.Formats, "webrtc-datachannel") || strings.Contains(draft, " webrtc-datachannel")
}

// attribute returns an attribute of a section, or else of the session.
func attribute(s *sdp.SessionDescription, m *sdp.MediaDescription, key string) string {
	if v, ok := m.Attribute(key); ok {
		return v
	}
	v, _ := s.Attribute(key)
	return v
}

// security takes the ICE and DTLS parameters.
func (o *offer) security(s *sdp.SessionDescription, m *sdp.MediaDescription) error {
	o.ufrag, o.pwd = attribute(s, m, "ice-ufrag"), attribute(s, m, "ice-pwd")
	if err := checkCredentials(o.ufrag, o.pwd); err != nil {
		return admission.Refusal(http.StatusBadRequest, "%v", err)
	}
	if !isFingerprint(attribute(s, m, "fingerprint")) {
		return admission.Refusal(http.StatusBadRequest, "the offer has no a=fingerprint of sha-256, sha-384 or sha-512")
	}
	switch attribute(s, m, "setup") {
	case "actpass", "passive":
		return nil
	case "active":
		return admission.Refusal(http.StatusUnprocessableEntity, "a=setup:active is not supported; offer actpass")
	}
	return admission.Refusal(http.StatusBadRequest, "the offer has no a=setup:actpass")
}

// isFingerprint reports whether s is the fingerprint of a certificate (RFC 8122 section 5), made
// with a hash that is still secure.
func isFingerprint(s string) bool {
	hash, sum, _ := strings.Cut(s, " ")
	bits, err := strconv.Atoi(strings.TrimPrefix(strings.ToLower(hash), "sha-"))
	b, bad := hex.DecodeString(strings.ReplaceAll(sum, ":", ""))
	return err == nil && bad == nil && slices.Contains([]int{256, 384, 512}, bits) && len(b) == bits/8
}

// checkCredentials checks the lengths and characters of the ICE name and password (RFC 8839 section
// 5.4).
func checkCredentials(ufrag, pwd string) error {
	if len(ufrag) < 4 || len(ufrag) > credentialMax || len(pwd) < 22 || len(pwd) > credentialMax {
		return errors.New("a=ice-ufrag must have 4 to 256 characters and a=ice-pwd 22 to 256")
	}
	if strings.ContainsFunc(ufrag+pwd, notICE) {
		return errors.New("a=ice-ufrag and a=ice-pwd may have letters, digits, + and / only")
	}
	return nil
}

// notICE reports whether r is not an ice-char. It allows the hyphen and the underscore, which some
// agents use; they do no harm.
func notICE(r rune) bool {
	return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("+/-_=", r)
}

// sound takes the audio section.
func (o *offer) sound(s *sdp.SessionDescription, m *sdp.MediaDescription) error {
	mid, _ := m.Attribute("mid")
	if o.mid = mid; mid == "" || len(mid) > 64 || m.MediaName.Port.Value == 0 {
		return admission.Refusal(http.StatusBadRequest, "the section m=audio is switched off, or has no a=mid")
	}
	o.direction = directionOf(s, m)
	if _, ok := m.Attribute("rtcp-mux"); !ok {
		return admission.Refusal(http.StatusNotAcceptable, "the section m=audio has no a=rtcp-mux")
	}
	for _, format := range m.MediaName.Formats {
		if n, err := strconv.ParseUint(format, 10, 7); err == nil {
			o.kinds[n] = codecOf(m, format)
		}
	}
	if !slices.ContainsFunc(o.kinds[:], func(c Codec) bool { return c != 0 && c != telephoneEvent }) {
		return admission.Refusal(http.StatusNotAcceptable, "no codec offered is known here; known are %v", codecs())
	}
	return nil
}

// directionOf returns the direction of a section, or else of the session (RFC 8866 section 6.7).
func directionOf(s *sdp.SessionDescription, m *sdp.MediaDescription) string {
	for _, has := range []func(string) (string, bool){m.Attribute, s.Attribute} {
		for _, d := range []string{neitherWay, upOnly, downOnly, bothWays} {
			if _, ok := has(d); ok {
				return d
			}
		}
	}
	return bothWays
}

// codecOf returns the codec of a payload type: by its a=rtpmap, else by its number (RFC 3551 table
// 4).
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

// bundled requires everything on one transport.
func (o *offer) bundled(s *sdp.SessionDescription) error {
	group, _ := s.Attribute("group")
	if o.data && !strings.HasPrefix(group, "BUNDLE ") {
		return admission.Refusal(http.StatusNotAcceptable, "the sections must share one transport: a=group:BUNDLE")
	}
	return nil
}

// down returns the best of the endpoint's codecs that the caller supports. For a caller that hears
// nothing it is one whose rate the reply has.
func (o *offer) down(ours []Codec) (Codec, error) {
	if !o.hears() {
		return G722, nil
	}
	for _, c := range ours {
		if slices.Contains(o.kinds[:], c) {
			return c, nil
		}
	}
	return 0, admission.Refusal(http.StatusNotAcceptable, "no codec offered can be spoken here; spoken are %v", ours)
}

// restarted returns the offer with other ICE credentials and without candidates: what a caller that
// restarts ICE with a fragment means. It leaves the version unchanged: only the credentials differ.
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

// shorten cuts foreign text for an error message.
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
