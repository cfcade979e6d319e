package rtc

import (
	"fmt"
	"strings"
	"testing"
	"time"
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
