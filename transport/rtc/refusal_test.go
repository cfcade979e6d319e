package rtc

import (
	"net/http"
	"testing"

	"github.com/voicegw/voicegw/internal/foreign/foreigntest"
	"github.com/voicegw/voicegw/transport"
)

// FuzzRefusal sends a card number in every place of an offer, a fragment and a hello: no refusal
// shows it.
func FuzzRefusal(f *testing.F) {
	foreigntest.Seed(f, "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"+
		"a=rtpmap:0 PCMU/8000\r\n",
		"a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n"+
			"a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host\r\n",
		`{"sdp":"v=0","type":"offer","pc_id":"x","requestData":{"a":"b"}}`,
		`{"type":"hello","version":1,"input_rate":8000,"output_rate":8000,"language":"de","params":{"a":"b"}}`)
	f.Fuzz(func(t *testing.T, before, behind string) {
		text := before + foreigntest.Card + behind
		_, err := parseOffer(text, takes{oneWay: true, video: true})
		foreigntest.Unquoted(t, err)
		foreigntest.Unquoted(t, new(offerJSON).decode(text))
		_, err = parseFragment(text)
		foreigntest.Unquoted(t, err)
		r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/v1/whip", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(HelloHeader, text)
		h, err := helloOf(r)
		if err == nil {
			err = h.Check(transport.Offer{})
		}
		foreigntest.Unquoted(t, err)
	})
}
