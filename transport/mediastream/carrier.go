package mediastream

import "github.com/voicegw/voicegw/transport/phone"

// carrier is what differs between telephone companies, as documented by them. The words of a message stand around what
// changes in it.
type carrier struct {
	name        string // the Door of a hello
	reorders    bool   // media may come out of order
	chunkFrames int    // frames of 20 ms that the carrier wants in one message at least

	// begin reads the start of a stream and the format of its sound. The call is "" when the start is another carrier's.
	begin func(m *message) (start, format, error)
	// codecs are those taken besides mu-law, by the names that the carrier has for them, in small letters.
	codecs map[string]phone.Codec

	// media comes before the payload, mark before a mark's name, clear is a whole message. "$" stands for the id of the
	// stream, "%c" for the name of the codec and "%r" for the rate.
	media, mediaEnd string
	mark, markEnd   string
	clear           string
}

// carriers are those there are. The first whose start it is has the stream.
func carriers() []carrier { return []carrier{telnyx(), twilio(), plivo(), exotel()} }
