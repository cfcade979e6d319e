package mediastream

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/voicegw/voicegw/transport/phone"
)

// dialect is what differs between carriers. The words of a message stand around what changes in it.
type dialect struct {
	name        string // the Door of a hello
	reorders    bool   // media may come out of order
	chunkFrames int    // frames of 20 ms that the carrier wants in one message at least

	// media comes before the payload, mark before a mark's name, clear is a whole message. "$" stands for the id of the
	// stream, "%c" for the name of the codec and "%r" for the rate.
	media, mediaEnd string
	mark, markEnd   string
	clear           string
}

// dialects are the carriers there are, as documented by them.
func dialects() []dialect {
	return []dialect{twilioDialect(), telnyxDialect(), plivoDialect(), exotelDialect()}
}

func twilioDialect() dialect {
	return dialect{name: "twilio", chunkFrames: 1,
		media: `{"event":"media","streamSid":$,"media":{"payload":"`, mediaEnd: `"}}`,
		mark: `{"event":"mark","streamSid":$,"mark":{"name":"`, markEnd: `"}}`,
		clear: `{"event":"clear","streamSid":$}`}
}

// telnyxDialect: order is not guaranteed; streams are started with bidirectional mode rtp and the same codec both ways.
func telnyxDialect() dialect {
	return dialect{name: "telnyx", reorders: true, chunkFrames: 1,
		media: `{"event":"media","media":{"payload":"`, mediaEnd: `"}}`,
		mark: `{"event":"mark","mark":{"name":"`, markEnd: `"}}`,
		clear: `{"event":"clear"}`}
}

func plivoDialect() dialect {
	return dialect{name: "plivo", chunkFrames: 1,
		media: `{"event":"playAudio","media":{"contentType":"%c","sampleRate":%r,"payload":"`, mediaEnd: `"}}`,
		mark: `{"event":"checkpoint","streamId":$,"name":"`, markEnd: `"}`,
		clear: `{"event":"clearAudio","streamId":$}`}
}

// exotelDialect: chunks of less than 100 ms have been heard to stutter.
func exotelDialect() dialect {
	return dialect{name: "exotel", chunkFrames: 5,
		media: `{"event":"media","stream_sid":$,"media":{"payload":"`, mediaEnd: `"}}`,
		mark: `{"event":"mark","stream_sid":$,"mark":{"name":"`, markEnd: `"}}`,
		clear: `{"event":"clear","stream_sid":$}`}
}

// writer writes the messages of one stream.
type writer struct {
	dialect
	codec phone.Codec
	bytes []byte
}

// newWriter fills in what is the same in all messages of a stream.
func newWriter(d dialect, stream string, codec phone.Codec, rateHz int) *writer {
	id := string(appendQuoted(nil, stream))
	name := "audio/x-mulaw"
	if codec == phone.L16 {
		name = "audio/x-l16"
	}
	for _, words := range []*string{&d.media, &d.mark, &d.clear} {
		*words = fill(*words, id, name, strconv.Itoa(rateHz))
	}
	return &writer{dialect: d, codec: codec}
}

// fill replaces the placeholders of a dialect's words.
func fill(words, id, codec, rate string) string {
	var out []byte
	for i := 0; i < len(words); i++ {
		switch {
		case words[i] == '$':
			out = append(out, id...)
		case words[i] == '%' && words[i+1] == 'c':
			out = append(out, codec...)
			i++
		case words[i] == '%' && words[i+1] == 'r':
			out = append(out, rate...)
			i++
		default:
			out = append(out, words[i])
		}
	}
	return string(out)
}

// AppendAudio appends a message with sound.
func (w *writer) AppendAudio(dst []byte, pcm []int16) []byte {
	w.bytes = w.codec.AppendBytes(w.bytes[:0], pcm)
	dst = append(dst, w.media...)
	dst = base64.StdEncoding.AppendEncode(dst, w.bytes)
	return append(dst, w.mediaEnd...)
}

// AppendMark appends a mark, whose name needs no quoting.
func (w *writer) AppendMark(dst, name []byte) []byte {
	dst = append(dst, w.dialect.mark...)
	dst = append(dst, name...)
	return append(dst, w.markEnd...)
}

// AppendClear appends the command to drop what was not played.
func (w *writer) AppendClear(dst []byte) []byte { return append(dst, w.dialect.clear...) }

// AppendBye appends nothing: to close the stream is to hang up.
func (w *writer) AppendBye(dst []byte) []byte { return dst }

// appendQuoted appends s as a JSON string, without what an id never holds: control characters, quotes, backslashes.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(slices.Grow(dst, len(s)+2), '"')
	for _, r := range s {
		if r >= ' ' && r != '"' && r != '\\' && r != '�' {
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}
