package live

import (
	"bytes"
	"encoding/base64"

	"github.com/voicegw/voicegw/audio"
)

// fastAudio reads a wire message that holds one piece of audio and nothing else, in the field order and any spacing the
// model uses, without allocating. It reports false, with *m untouched but for memory behind m.PCM, for every other
// message, also for a broken one: that is left to slow.
func (d *decoder) fastAudio(data []byte, m *ServerMessage) bool {
	mime, text, ok := scanAudio(data)
	if !ok || len(text) == 0 || len(text)%4 != 0 {
		return false
	}
	rateHz, ok := fastRate(mime)
	if !ok {
		return false
	}
	want := len(text) / 4 * 3
	if cap(d.le) < want {
		d.le = make([]byte, want, want+want/4)
	}
	n, err := base64.StdEncoding.Decode(d.le[:want], text)
	// A line break is no JSON but base64 skips it, so the length must be right too.
	if err != nil || n%2 != 0 || n != want-padding(text) {
		return false
	}
	*m = ServerMessage{Kind: ServerAudio, RateHz: rateHz, PCM: audio.AppendSamples(m.PCM[:0], d.le[:n])}
	return true
}

func fastRate(mime []byte) (int, bool) {
	if string(mime) == mimeAudioDown {
		return outputRateHz, true
	}
	for _, c := range mime {
		if c < ' ' || c > '~' {
			return 0, false
		}
	}
	rateHz, err := audioRate(string(mime))
	return rateHz, err == nil
}

func padding(text []byte) int {
	return 2 - len(bytes.TrimRight(text[len(text)-2:], "="))
}

// scanAudio finds the MIME type and the base64 text in
// {"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{"mimeType":"...","data":"..."}}]}}} where role
// may stand on either side of parts or be absent, and mimeType and data in either order.
func scanAudio(data []byte) (mime, text []byte, ok bool) {
	s := scanner{rest: data}
	ok = s.punct('{') && s.key("serverContent") && s.punct('{') && s.key("modelTurn") && s.punct('{')
	if !ok {
		return nil, nil, false
	}
	role := s.role() && s.punct(',')
	ok = s.key("parts") && s.punct('[') && s.punct('{') && s.key("inlineData") && s.punct('{')
	if !ok {
		return nil, nil, false
	}
	if mime, text, ok = s.blob(); !ok {
		return nil, nil, false
	}
	ok = s.puncts("}}]")
	if ok && !role && s.punct(',') {
		ok = s.role()
	}
	ok = ok && s.puncts("}}}") && s.end()
	return mime, text, ok
}

// scanner walks over JSON. Each method consumes what it names or, when something else comes, nothing.
type scanner struct {
	rest []byte
}

func (s *scanner) space() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\n' || s.rest[0] == '\r' || s.rest[0] == '\t') {
		s.rest = s.rest[1:]
	}
}

func (s *scanner) punct(c byte) bool {
	s.space()
	if len(s.rest) == 0 || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

func (s *scanner) puncts(all string) bool {
	for i := range len(all) {
		if !s.punct(all[i]) {
			return false
		}
	}
	return true
}

func (s *scanner) end() bool {
	s.space()
	return len(s.rest) == 0
}

func (s *scanner) key(name string) bool {
	s.space()
	n := len(name)
	if len(s.rest) < n+2 || s.rest[0] != '"' || string(s.rest[1:n+1]) != name || s.rest[n+1] != '"' {
		return false
	}
	before := s.rest
	s.rest = s.rest[n+2:]
	if !s.punct(':') {
		s.rest = before
		return false
	}
	return true
}

// text reads a string without looking inside; the caller refuses what it does not expect there.
func (s *scanner) text() ([]byte, bool) {
	s.space()
	if len(s.rest) == 0 || s.rest[0] != '"' {
		return nil, false
	}
	end := bytes.IndexByte(s.rest[1:], '"')
	if end < 0 {
		return nil, false
	}
	text := s.rest[1 : end+1]
	s.rest = s.rest[end+2:]
	return text, true
}

func (s *scanner) role() bool {
	if !s.key("role") {
		return false
	}
	text, ok := s.text()
	return ok && string(text) == "model"
}

func (s *scanner) blob() (mime, text []byte, ok bool) {
	if s.key("data") {
		text, ok = s.text()
		if ok = ok && s.punct(',') && s.key("mimeType"); ok {
			mime, ok = s.text()
		}
		return mime, text, ok
	}
	if !s.key("mimeType") {
		return nil, nil, false
	}
	mime, ok = s.text()
	if ok = ok && s.punct(',') && s.key("data"); ok {
		text, ok = s.text()
	}
	return mime, text, ok
}
