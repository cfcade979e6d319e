package rtc

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"
)

// TestIssue makes the credentials that other programs make of the same secret, with
// printf 1700000000:gateway | openssl dgst -sha1 -hmac secret -binary | base64.
func TestIssue(t *testing.T) {
	t.Parallel()
	s := ICEServer{URLs: []string{"turn:a.example"}, Username: "gateway", Secret: "secret", Life: time.Hour}
	got := s.issue(time.Unix(1_700_000_000-3600, 0))
	if got.Username != "1700000000:gateway" || got.Credential != "sxhOGTuDv3OttuHRz208ju4I8II=" || got.Secret != "" {
		t.Errorf("%q, %q", got.Username, got.Credential)
	}
	s.Username, s.Life = "", 0
	if got := s.issue(time.Unix(0, 0)); got.Username != fmt.Sprint(int(TURNLifeDefault.Seconds())) {
		t.Errorf("without a name and a life: %q", got.Username)
	}
	s = ICEServer{URLs: s.URLs, Username: "u", Credential: "c"}
	if got := s.issue(time.Now()); got.Username != "u" || got.Credential != "c" {
		t.Errorf("a password of its own: %q, %q", got.Username, got.Credential)
	}
}

// TestServersAreChecked refuses TURN servers that would not know the caller, and too many. No message shows a
// secret.
func TestServersAreChecked(t *testing.T) {
	t.Parallel()
	url := []string{"turn:a.example"}
	for _, c := range []struct {
		server ICEServer
		ok     bool
	}{
		{ICEServer{URLs: url, Secret: "hush"}, true},
		{ICEServer{URLs: url, Username: "u", Secret: "hush"}, true},
		{ICEServer{URLs: url, Username: "u", Credential: "hush"}, true},
		{ICEServer{URLs: url, Username: "u:v", Secret: "hush"}, false},
		{ICEServer{URLs: url, Username: "u"}, false},
		{ICEServer{URLs: url, Credential: "hush"}, false},
		{ICEServer{Secret: "hush"}, false},
		{ICEServer{URLs: []string{"turn:a.example:0"}, Secret: "hush"}, false},
		{ICEServer{URLs: []string{"turn:a.example:99999"}, Secret: "hush"}, false},
		{ICEServer{URLs: []string{"turn:a.example?transport=sctp"}, Secret: "hush"}, false},
		{ICEServer{URLs: []string{"stun:a.example?transport=udp"}}, false},
	} {
		err := checkServers([]ICEServer{c.server})
		if (err == nil) != c.ok {
			t.Errorf("%v: %v", c.server, err)
		}
		if text := fmt.Sprint(c.server, err, &c.server); strings.Contains(text, "hush") {
			t.Errorf("a secret is shown: %s", text)
		}
	}
	if err := checkServers(make([]ICEServer, ICEServersMax+1)); err == nil {
		t.Error("any number of servers is taken")
	}
}

// TestPrepareICEServers: servers that are prepared count from the commit on, and wrong ones never.
func TestPrepareICEServers(t *testing.T) {
	t.Parallel()
	e := &Endpoint{}
	if err := e.SetICEServers([]ICEServer{{URLs: []string{"stun:old.example"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.PrepareICEServers([]ICEServer{{URLs: []string{"stun:"}}}); err == nil {
		t.Error("a server without a name is taken")
	}
	commit, err := e.PrepareICEServers([]ICEServer{{URLs: []string{"stun:new.example"}}})
	if got := e.iceServers()[0].URLs[0]; err != nil || got != "stun:old.example" {
		t.Errorf("before the commit callers are given %s, %v", got, err)
	}
	if commit(); e.iceServers()[0].URLs[0] != "stun:new.example" {
		t.Errorf("after it they are given %v", e.iceServers())
	}
}

// FuzzServers wants every server that is valid to be one that the library takes, and its credentials to come
// through a header unchanged.
func FuzzServers(f *testing.F) {
	for _, u := range []string{"turn:a.example", "turns:[::1]:443?transport=tcp", "stun:a", "turn:%zz", "turn:a:1:2",
		"turn::1"} {
		f.Add(u, "user", "secret", int64(0))
	}
	f.Add("turn:a.example", "", "", int64(-1))
	api := webrtc.NewAPI()
	f.Fuzz(func(t *testing.T, url, user, secret string, life int64) {
		s := ICEServer{URLs: []string{url}, Username: user, Secret: secret, Life: time.Duration(life)}
		if checkServers([]ICEServer{s}) != nil {
			return
		}
		got := s.issue(time.Unix(1_700_000_000, 0))
		g, err := api.NewICEGatherer(webrtc.ICEGatherOptions{ICEServers: []webrtc.ICEServer{{URLs: got.URLs,
			Username: got.Username, Credential: got.Credential}}})
		if err != nil {
			t.Fatalf("%q is valid, and the library says: %v", url, err)
		}
		_ = g.Close()
		if strings.ContainsAny(link(url, got), "\r\n") {
			t.Errorf("the header has a second line: %q", link(url, got))
		}
	})
}
