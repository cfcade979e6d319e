package rtc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"github.com/pion/webrtc/v4/pkg/media/oggreader"

	"github.com/voicegw/voicegw/audio/opus"
)

// HasOpusEncoder tells whether libopus is built in.
const HasOpusEncoder = opus.HasEncoder

// NewOn is New on a port that a test made.
func NewOn(cfg Config, conn net.PacketConn) (*Endpoint, error) {
	return newEndpoint(cfg.withDefaults(), conn)
}

// OpusPackets are the packets of a file that libopus made of the utterance "hello".
func OpusPackets(t testing.TB, name string) (packets [][]byte) {
	t.Helper()
	f, err := os.Open("testdata/" + name + ".opus")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r, _, err := oggreader.NewWith(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		page, _, err := r.ParseNextPage()
		if errors.Is(err, io.EOF) {
			return packets
		}
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(page, []byte("Opus")) { // OpusTags
			packets = append(packets, page)
		}
	}
}
