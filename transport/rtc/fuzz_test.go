package rtc

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/ws"
)

// chromium is an offer of Chromium 156.
func chromium(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("testdata/chromium.sdp")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n", "\r\n")
}

// TestChromiumOffer takes what a browser offers.
func TestChromiumOffer(t *testing.T) {
	o, err := parseOffer(chromium(t), takes{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]Codec{111: Opus, 9: G722, 0: PCMU, 8: PCMA, 110: telephoneEvent, 126: telephoneEvent}
	for kind, c := range o.kinds {
		if want[kind] != c {
			t.Errorf("payload type %d is %s", kind, c)
		}
	}
	if !o.data || o.mid != "0" || o.ufrag == "" || len(o.pwd) < 22 {
		t.Errorf("the offer is %+v", o)
	}
	if down, err := o.down([]Codec{PCMA, Opus}); err != nil || down != PCMA {
		t.Errorf("%s comes down, %v", down, err)
	}
	if again := o.restarted("abcd", strings.Repeat("x", 22)); !strings.Contains(again, "a=ice-ufrag:abcd\r\n") ||
		strings.Contains(again, o.pwd) || strings.Contains(again, "a=candidate") {
		t.Errorf("a restart is\n%s", again)
	}
}

// FuzzOffer: any text is an offer or refused with a status of its own.
func FuzzOffer(f *testing.F) {
	f.Add(chromium(f))
	f.Add("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n")
	f.Add("hello")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := parseOffer(text, takes{oneWay: true, video: true})
		if err != nil {
			if status, why := admission.Status(err); status < 400 || status > 499 || why == "" {
				t.Fatalf("refused with %d %q", status, why)
			}
			return
		}
		if checkCredentials(o.ufrag, o.pwd) != nil || o.mid == "" {
			t.Fatalf("taken as %+v", o)
		}
		_ = o.restarted(o.ufrag, o.pwd)
	})
}

// FuzzAnswer gives the library what the parser lets through: it answers or refuses, and what it
// made can be closed.
func FuzzAnswer(f *testing.F) {
	f.Add(chromium(f))
	conn, err := listen(Config{}.withDefaults())
	if err != nil {
		f.Fatal(err)
	}
	e, err := newEngine(Config{}.withDefaults(), conn)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.close() })
	f.Fuzz(func(t *testing.T, text string) {
		o, err := parseOffer(text, takes{oneWay: true, video: true})
		if err != nil {
			return
		}
		p, err := e.newPeer(Config{}.withDefaults(), proposal{offer: o}, transport.Hello{}, PCMU)
		if err != nil {
			if status, _ := admission.Status(err); status != http.StatusNotAcceptable {
				t.Fatal(err)
			}
			return
		}
		if fragmentOf(p.pc.LocalDescription().SDP) == "" {
			t.Error("the answer has no fragment")
		}
		_ = p.Close(transport.ReasonDone, "")
	})
}

// FuzzFragment: any text is a fragment within limits, or refused.
func FuzzFragment(f *testing.F) {
	f.Add("a=ice-ufrag:EsAw\r\na=ice-pwd:P2uYro0UCOQ4zxjKXaWCBui1\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n" +
		"a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host\r\na=end-of-candidates\r\n")
	f.Add("a=ice-ufrag:x")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseFragment(text)
		if err != nil {
			return
		}
		if checkCredentials(p.ufrag, p.pwd) != nil || len(p.candidates) > candidatesMax {
			t.Fatalf("taken as %+v", p)
		}
		if strings.ContainsAny(p.ufrag+p.pwd, "\r\n") {
			t.Fatal("credentials may hold a new line")
		}
		_ = fragmentOf(text)
	})
}

// FuzzPackets hears any packets: the first byte of each says how long it is.
func FuzzPackets(f *testing.F) {
	rtp := func(kind byte, payload ...byte) []byte {
		b := append([]byte{0x80, kind, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, payload...)
		return append([]byte{byte(len(b))}, b...)
	}
	f.Add(rtp(111, OpusPackets(f, "silk")[3]...))
	f.Add(rtp(111, OpusPackets(f, "celt")[50][:40]...))
	f.Add(append(rtp(126, 5, 0x80, 0, 160), rtp(9, 1, 2, 3)...))
	o, err := parseOffer(chromium(f), takes{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		box := newInbox()
		r := newAudioReceiver(box, o.kinds, func() bool { return true })
		for len(b) > 0 {
			n := min(int(b[0]), len(b)-1)
			r.take(b[1 : 1+n])
			b = b[1+n:]
		}
		r.order.flush()
		if box.audio > inboxAudioMax || box.queue.n > inboxMax {
			t.Fatalf("%d events wait, %d of them sound", box.queue.n, box.audio)
		}
	})
}

// FuzzHello: the settings of a call come from outside too.
func FuzzHello(f *testing.F) {
	f.Add(`{"type":"hello","version":1,"input_rate":1,"output_rate":1,"params":{"a":"b"}}`, "language=de&half_duplex=1")
	f.Fuzz(func(t *testing.T, header, query string) {
		r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/v1/whip", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(HelloHeader, header)
		r.URL.RawQuery = query
		h, err := helloOf(r)
		if err == nil && h.Check(transport.Offer{}) == nil && len(ws.AppendHello(nil, h)) == 0 {
			t.Fatal("a hello that is nothing")
		}
	})
}

// FuzzForm reads forms with an offer: what is refused is refused for a reason, and what is taken is
// within the limits.
func FuzzForm(f *testing.F) {
	f.Add("--x\r\nContent-Disposition: form-data; name=\"sdp\"\r\n\r\nv=0\r\n--x--\r\n", "x")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, body, boundary string) {
		sdp, config, err := decodeForm(body, boundary)
		if err != nil {
			if status, why := admission.Status(err); status < 400 || status > 499 || why == "" {
				t.Fatalf("refused with %d %q", status, why)
			}
			return
		}
		if sdp == "" || len(sdp) > OfferBytesMax || len(config) > SessionBytesMax {
			t.Fatalf("taken: %d bytes of SDP, %d of a session", len(sdp), len(config))
		}
	})
}
