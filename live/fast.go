package live

import (
	"bytes"
	"encoding/base64"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/internal/jsonscan"
)

// fastAudio reads a wire message that holds one piece of audio and nothing else, in the field order
// and any spacing the model uses, without allocating. It reports false, with *m untouched but for
// memory behind m.PCM, for every other message, also for a broken one: that is left to slow.
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
	rateHz, err := audioRate(string(mime))
	return rateHz, err == nil
}

func padding(text []byte) int {
	return 2 - len(bytes.TrimRight(text[len(text)-2:], "="))
}

// scanAudio finds the MIME type and the base64 text in
// {"serverContent":{"modelTurn":{"role":"model","parts":[{"inlineData":{"mimeType":"...","data":"..."}}]}}}
// where role may stand on either side of parts or be absent, and mimeType and data in either order.
func scanAudio(data []byte) (mime, text []byte, ok bool) {
	s := jsonscan.New(data)
	ok = s.Skip('{') && s.Is("serverContent") && s.Skip('{') && s.Is("modelTurn") && s.Skip('{')
	if !ok {
		return nil, nil, false
	}
	role := scanRole(&s) && s.Skip(',')
	ok = s.Is("parts") && s.Skip('[') && s.Skip('{') && s.Is("inlineData") && s.Skip('{')
	if !ok {
		return nil, nil, false
	}
	if mime, text, ok = scanBlob(&s); !ok {
		return nil, nil, false
	}
	ok = s.SkipAll("}}]")
	if ok && !role && s.Skip(',') {
		ok = scanRole(&s)
	}
	ok = ok && s.SkipAll("}}}") && s.End()
	return mime, text, ok
}

// scanRole takes the member that says who speaks, if it is the model.
func scanRole(s *jsonscan.Scanner) bool {
	if !s.Is("role") {
		return false
	}
	text, ok := s.Text()
	return ok && string(text) == "model"
}

// scanBlob takes the members of a piece of audio, in either order.
func scanBlob(s *jsonscan.Scanner) (mime, text []byte, ok bool) {
	if s.Is("data") {
		text, ok = s.Text()
		if ok = ok && s.Skip(',') && s.Is("mimeType"); ok {
			mime, ok = s.ASCII()
		}
		return mime, text, ok
	}
	if !s.Is("mimeType") {
		return nil, nil, false
	}
	mime, ok = s.ASCII()
	if ok = ok && s.Skip(',') && s.Is("data"); ok {
		text, ok = s.Text()
	}
	return mime, text, ok
}
