package rtc_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"
	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/audio/audiotest"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
)

// relay is a TURN server on the loopback, and knows the ports it has lent.
type relay struct {
	turn.RelayAddressGeneratorStatic
	server rtc.ICEServer

	mu   sync.Mutex
	lent map[string]bool
}

const (
	relayRealm  = "voicegw"
	relayUser   = "caller"
	relaySecret = "not a word"
)

// newRelay starts a server that ends with the test.
func newRelay(t *testing.T) *relay {
	t.Helper()
	r := &relay{lent: map[string]bool{}}
	r.RelayAddress, r.Address = net.IPv4(127, 0, 0, 1), "127.0.0.1"
	conn := socket(t)
	quiet := &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled}
	server, err := turn.NewServer(turn.ServerConfig{Realm: relayRealm, LoggerFactory: quiet,
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: conn, RelayAddressGenerator: r}},
		AuthHandler: func(a *turn.RequestAttributes) (string, []byte, bool) {
			return a.Username, turn.GenerateAuthKey(relayUser, relayRealm, relaySecret), a.Username == relayUser
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	r.server = rtc.ICEServer{URLs: []string{"turn:" + conn.LocalAddr().String() + "?transport=udp"}, Username: relayUser,
		Credential: relaySecret}
	return r
}

// AllocatePacketConn notes the port that is lent.
func (r *relay) AllocatePacketConn(c turn.AllocateListenerConfig) (net.PacketConn, net.Addr, error) {
	conn, addr, err := r.RelayAddressGeneratorStatic.AllocatePacketConn(c)
	if err == nil {
		r.mu.Lock()
		r.lent[addr.String()] = true
		r.mu.Unlock()
	}
	return conn, addr, err
}

// lends tells whether an address is one of the server's.
func (r *relay) lends(a *net.UDPAddr) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lent[a.String()]
}

// completes waits for a reply that is played to its end. Those before it end early when the gateway
// hears the caller's words in parts, as on a busy machine.
func (c *caller) completes() {
	c.t.Helper()
	for c.turn(transport.StateEnd).TurnEnd != transport.TurnComplete {
	}
}

// talks wants a caller to hear its own words. On a busy machine the sound may overtake the event
// that announces it, and both ends skip time; then the caller says them again.
func (c *caller) talks() {
	c.t.Helper()
	const times = 3
	for n := 1; ; n++ {
		c.say(speech("hello"))
		c.completes()
		alike, loud := audiotest.Pieces(speech("hello"), c.sound(0), 16000)
		if float64(alike) >= 0.7*float64(loud) {
			return
		}
		if n == times {
			c.t.Fatalf("%d of %d pieces were heard\n%s", alike, loud, c.story())
		}
		c.t.Logf("once more, because %d of %d pieces were heard", alike, loud)
	}
}

// TestTURN is a call from where the endpoint cannot be reached but by a relay. Without the right
// credential there is none.
func TestTURN(t *testing.T) {
	t.Parallel()
	r := newRelay(t)
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{ICEServers: []rtc.ICEServer{r.server}})
	n := newProxy(t, w, r.lends)
	by := func(secret string) manner {
		return manner{through: n.through, ice: webrtc.Configuration{ICETransportPolicy: webrtc.ICETransportPolicyRelay,
			ICEServers: []webrtc.ICEServer{{URLs: r.server.URLs, Username: relayUser, Credential: secret}}}}
	}
	if offer := w.prepare(by("guessed")).offer(nil); strings.Contains(offer, "a=candidate:") {
		t.Errorf("without the credential a way was found:\n%s", offer)
	}
	w.call(by(relaySecret)).talks()
}

// TestFullICE is an endpoint that looks for ways itself: it is not lite, has a relay of its own,
// and finds a caller that tells its addresses later. The caller gets no way to the endpoint but the
// relay.
func TestFullICE(t *testing.T) {
	t.Parallel()
	r := newRelay(t)
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{FullICE: true, ICEServers: []rtc.ICEServer{r.server}})
	c := w.prepare(manner{})
	offer := c.offer(nil)
	var bare, candidates []string
	for line := range strings.Lines(offer) {
		if strings.HasPrefix(line, "a=candidate:") {
			candidates = append(candidates, line)
		} else if !strings.HasPrefix(line, "a=end-of-candidates") {
			bare = append(bare, line)
		}
	}
	resp, answer := w.request(http.MethodPost, w.callURL(), strings.Join(bare, ""), "Content-Type", offerType)
	if resp.StatusCode != http.StatusCreated || strings.Contains(answer, "a=ice-lite") ||
		!strings.Contains(answer, "typ host") || !strings.Contains(answer, "typ relay") {
		t.Fatalf("%s\n%s", resp.Status, answer)
	}
	var relayed strings.Builder
	for line := range strings.Lines(answer) {
		if !strings.HasPrefix(line, "a=candidate:") || strings.Contains(line, "typ relay") {
			relayed.WriteString(line)
		}
	}
	ufrag, pwd := credentials(offer)
	patch := "a=ice-ufrag:" + ufrag + "\r\na=ice-pwd:" + pwd + "\r\nm=audio 9 UDP/TLS/RTP/SAVPF 9\r\na=mid:0\r\n" +
		strings.Join(candidates, "") + "a=end-of-candidates\r\n"
	resp, _ = w.request(http.MethodPatch, w.url()+resp.Header.Get("Location"), patch, "Content-Type", fragmentType,
		"If-Match", resp.Header.Get("ETag"))
	if resp.StatusCode != http.StatusNoContent {
		t.Fatalf("the caller's addresses: %s", resp.Status)
	}
	c.join(relayed.String())
	c.talks()
}

// TestPublicIPs is an endpoint behind a router that hands on what comes in at a public address:
// callers are told of that one, and of no other.
func TestPublicIPs(t *testing.T) {
	t.Parallel()
	const public = "203.0.113.7"
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{PublicIPs: []string{public}})
	c := w.call(manner{through: func(answer string) string {
		for line := range strings.Lines(answer) {
			if strings.HasPrefix(line, "a=candidate:") && !strings.Contains(line, " "+public+" ") {
				t.Errorf("callers are told of %s", line)
			}
		}
		if !strings.Contains(answer, public) {
			t.Errorf("callers are not told of the public address:\n%s", answer)
		}
		return strings.ReplaceAll(answer, public, "127.0.0.1") // the router
	}})
	c.talks()
	for _, bad := range [][]string{{"gateway.example"}, {public, "203.0.113.8"}, {""}} {
		if err := (rtc.Config{PublicIPs: bad}).Check(); err == nil {
			t.Errorf("the public addresses %q are taken", bad)
		}
	}
}

// TestChromiumOverTURN is a page that finds no way to the endpoint, and then one by the relay that
// the endpoint names.
func TestChromiumOverTURN(t *testing.T) {
	t.Parallel()
	r := newRelay(t)
	w := newWorld(t, sim.Config{}, voicegw.Config{}, rtc.Config{Codecs: []rtc.Codec{}, ConnectTimeout: patience,
		ICEServers: []rtc.ICEServer{r.server}})
	n := newProxy(t, w, r.lends)
	tab := calling(t, webPageOf(t, rewriting(w.endpoint, n.through)))
	tab.Eval(`speak("hello")`, nil)
	tab.WaitFor(`turns.some((turn) => turn.state === "start")`)
	tab.WaitFor(`turns.some((turn) => turn.state === "end")`)
	if !understood(t, speech("hello"), pageHeard(t, tab), 0.5) {
		t.Error("the words were not heard")
	}
	tab.NoErrors()
}
