package main

import (
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pion/logging"
	"github.com/pion/turn/v5"
	"github.com/pion/webrtc/v4"
)

// turnServer starts a TURN server on loopback that shares a secret, and returns its URL.
func turnServer(t *testing.T, secret string) string {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	quiet := &logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled}
	relays := &turn.RelayAddressGeneratorStatic{RelayAddress: net.IPv4(127, 0, 0, 1), Address: "127.0.0.1"}
	server, err := turn.NewServer(turn.ServerConfig{Realm: "voicegw", LoggerFactory: quiet,
		PacketConnConfigs: []turn.PacketConnConfig{{PacketConn: conn, RelayAddressGenerator: relays}},
		AuthHandler:       turn.LongTermTURNRESTAuthHandler(secret, quiet.NewLogger("turn"))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return "turn:" + conn.LocalAddr().String() + "?transport=udp"
}

// relayedCall is a caller that uses no other way than a relay.
type relayedCall struct {
	pc    *webrtc.PeerConnection
	heard chan struct{} // closed with the first packet of the reply
}

func newRelayedCall(t *testing.T, servers ...webrtc.ICEServer) *relayedCall {
	t.Helper()
	var loopback webrtc.SettingEngine
	loopback.SetIncludeLoopbackCandidate(true)
	media := &webrtc.MediaEngine{}
	if err := media.RegisterDefaultCodecs(); err != nil {
		t.Fatal(err)
	}
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(loopback), webrtc.WithMediaEngine(media)).NewPeerConnection(
		webrtc.Configuration{ICETransportPolicy: webrtc.ICETransportPolicyRelay, ICEServers: servers})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pc.Close() })
	kind := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypePCMU, ClockRate: 8000}
	track, err := webrtc.NewTrackLocalStaticSample(kind, "caller", "caller")
	if err == nil {
		_, err = pc.AddTrack(track)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &relayedCall{pc: pc, heard: make(chan struct{})}
	pc.OnTrack(func(reply *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		if _, _, err := reply.ReadRTP(); err == nil {
			close(c.heard)
		}
	})
	return c
}

// offer returns the offer with all candidates.
func (c *relayedCall) offer(t *testing.T) string {
	t.Helper()
	gathered := webrtc.GatheringCompletePromise(c.pc)
	offer, err := c.pc.CreateOffer(nil)
	if err == nil {
		err = c.pc.SetLocalDescription(offer)
	}
	if err != nil {
		t.Fatal(err)
	}
	<-gathered
	return c.pc.LocalDescription().SDP
}

// post sends an offer by WHIP.
func post(t *testing.T, url, offer string) (*http.Response, string) {
	t.Helper()
	resp, err := http.Post(url+"v1/whip", "application/sdp", strings.NewReader(offer))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("%s, %v: %s", resp.Status, err, body)
	}
	return resp, string(body)
}

// TestTURNWithASharedSecret makes a call that only a relay carries, by the credentials that serve gave out. The
// relay knows nothing of the gateway but the secret.
func TestTURNWithASharedSecret(t *testing.T) {
	t.Parallel()
	const secret = "what-the-relay-and-the-gateway-share"
	url := turnServer(t, secret)
	file := writeFile(t, "turn-secret", []byte(secret+"\n"))
	s := startServe(t, nil, "--endpoints", "webrtc", "--webrtc-ice-servers", "stun:stun.example.com",
		"--webrtc-turn-servers", url, "--webrtc-turn-secret-file", file, "--webrtc-turn-username", "gateway")
	resp, _ := post(t, s.url, newRelayedCall(t).offer(t)) // finds no way; it asks for the servers
	links := resp.Header.Values("Link")
	m := regexp.MustCompile(`^<(turn:[^>]+)>; rel="ice-server"; username="(\d+:gateway)"; credential="([^"]+)"`).
		FindStringSubmatch(links[len(links)-1])
	if m == nil || m[1] != url || len(links) != 2 {
		t.Fatalf("callers are given %q", links)
	}
	own := webrtc.ICEServer{URLs: []string{url}, Username: m[2], Credential: m[3]}
	guessed := own
	guessed.Credential = "guessed"
	if offer := newRelayedCall(t, guessed).offer(t); strings.Contains(offer, "a=candidate:") {
		t.Errorf("the relay took a wrong password:\n%s", offer)
	}
	c := newRelayedCall(t, own)
	offer := c.offer(t)
	if strings.Count(offer, "typ relay") == 0 || strings.Contains(offer, "typ host") {
		t.Fatalf("the ways of the caller:\n%s", offer)
	}
	_, answer := post(t, s.url, offer)
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.heard: // the greeting
	case <-time.After(patience):
		t.Fatalf("nothing is heard; the connection is %s", c.pc.ConnectionState())
	}
	s.end()
	if strings.Contains(s.stderr.String(), secret) {
		t.Error("the secret is in the log")
	}
}

// TestTURNSettings refuses settings that do not go together, and TURN servers in the place of STUN servers.
func TestTURNSettings(t *testing.T) {
	t.Parallel()
	const server = "--webrtc-turn-servers=turns:turn.example.com:443?transport=tcp"
	empty, secret := writeFile(t, "empty", nil), writeFile(t, "secret", []byte("s"))
	for _, c := range []struct {
		args []string
		word string
	}{
		{[]string{server}, "webrtc.turn_secret_file, or webrtc.turn_username"},
		{[]string{"--webrtc-turn-secret-file=a"}, "webrtc.turn_servers beside it"},
		{[]string{"--webrtc-turn-username=a"}, "webrtc.turn_servers beside it"},
		{[]string{server, "--webrtc-turn-credential-file=a"}, "webrtc.turn_username beside it"},
		{[]string{server, "--webrtc-turn-credential-file=a", "--webrtc-turn-secret-file=b", "--webrtc-turn-username=u"},
			"either this, or"},
		{[]string{server, "--webrtc-turn-secret-file=a", "--webrtc-turn-username=a:b"}, "a name without a colon"},
		{[]string{"--webrtc-turn-servers=stun:a.example", "--webrtc-turn-secret-file=a"}, "URLs such as turn:"},
		{[]string{"--webrtc-turn-servers=turn:", "--webrtc-turn-secret-file=a"}, "URLs such as turn:"},
		{[]string{"--webrtc-turn-servers=turn:a?transport=sctp", "--webrtc-turn-secret-file=a"}, "URLs such as turn:"},
		{[]string{"--webrtc-ice-servers=turn:a.example"}, "URLs such as stun:"},
	} {
		if _, err := configured(t, "", nil, c.args...); err == nil || !strings.Contains(err.Error(), c.word) {
			t.Errorf("%q: %v; want %q", c.args, err, c.word)
		}
	}
	for _, c := range []struct{ file, word string }{{empty, "is empty"}, {"/nowhere", "no such file"}, {secret, ""}} {
		s, err := configured(t, "endpoints: [webrtc]", nil, server, "--webrtc-turn-secret-file", c.file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := iceServers(s)
		if (err == nil) != (c.word == "") || err != nil && !strings.Contains(err.Error(), c.word) {
			t.Errorf("%s: %v", c.file, err)
		}
		if err == nil && (len(list) != 1 || list[0].Secret != "s" || list[0].Life <= s.Net().MaxDuration) {
			t.Errorf("%+v", list)
		}
	}
}
