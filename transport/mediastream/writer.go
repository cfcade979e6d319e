package mediastream

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/voicegw/voicegw/transport/phone"
)

// writer writes the messages of one stream.
type writer struct {
	carrier
	codec phone.Codec
	bytes []byte
}

// newWriter sets the constant parts of all messages of a stream.
func newWriter(c carrier, stream string, codec phone.Codec, rateHz int) *writer {
	id := string(appendQuoted(nil, stream))
	name := "audio/x-mulaw"
	if codec == phone.L16 {
		name = "audio/x-l16"
	}
	known := strings.NewReplacer("$", id, "%c", name, "%r", strconv.Itoa(rateHz))
	for _, words := range []*string{&c.media, &c.mark, &c.clear} {
		*words = known.Replace(*words)
	}
	return &writer{carrier: c, codec: codec}
}

// AppendAudio appends an audio message.
func (w *writer) AppendAudio(dst []byte, pcm []int16) []byte {
	w.bytes = w.codec.AppendBytes(w.bytes[:0], pcm)
	dst = append(dst, w.media...)
	dst = base64.StdEncoding.AppendEncode(dst, w.bytes)
	return append(dst, w.mediaEnd...)
}

// AppendMark appends a mark, whose name needs no quoting.
func (w *writer) AppendMark(dst, name []byte) []byte {
	dst = append(dst, w.carrier.mark...)
	dst = append(dst, name...)
	return append(dst, w.markEnd...)
}

// AppendClear appends the command to drop what was not played.
func (w *writer) AppendClear(dst []byte) []byte { return append(dst, w.carrier.clear...) }

// AppendBye appends nothing: closing the stream hangs up.
func (w *writer) AppendBye(dst []byte) []byte { return dst }

// appendQuoted appends s as a JSON string. It drops the characters that an id never has: control
// characters, quotes and backslashes.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+2), '"')
	for _, r := range s {
		if r >= ' ' && r != '"' && r != '\\' && r != '�' {
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}
