package mediastream

import "github.com/voicegw/voicegw/transport/phone"

// carrier is what differs between telephone companies, as they document it. The rest of a message
// is the same for all of them: "event" names the event, and the member of that name has its
// details.
type carrier struct {
	name        string // the Endpoint of a hello
	reorders    bool   // media may arrive out of order
	chunkFrames int    // the minimum number of 20 ms frames that the carrier wants in one message

	// streamID names the member of a message that holds the id of its stream.
	streamID string
	// events maps the carrier's own names of events to the common names, or to "ignored": see
	// known.
	events map[string]string
	// returned returns the name of a returned mark; nil means the "name" in "mark".
	returned func(m *message) []byte

	// begin reads the start of a stream and its media format. The call is "" if the start is
	// another carrier's.
	begin func(m *message) (start, format, error)
	// codecs maps the carrier's own names, in lower case, to the codecs it has besides mu-law.
	codecs map[string]phone.Codec

	// media precedes the payload, mark precedes a mark's name, clear is a whole message. "$" stands
	// for the id of the stream, "%c" for the name of the codec and "%r" for the rate.
	media, mediaEnd string
	mark, markEnd   string
	clear           string
}

// carriers returns all carriers. A stream belongs to the first one that recognizes its start.
func carriers() []carrier { return []carrier{telnyx(), twilio(), plivo(), exotel()} }
