package mediastream

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/voicegw/voicegw/transport"
)

// passIn is the pass in an answer of /voice.
func passIn(t *testing.T, body string) string {
	t.Helper()
	var answer struct {
		Parameters []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"Connect>Stream>Parameter"`
	}
	if err := xml.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	for _, p := range answer.Parameters {
		if p.Name == paramPass {
			return p.Value
		}
	}
	return ""
}

// TestPass: a pass of /voice counts once, for its call, for a minute.
func TestPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := publicEndpoint(t, Config{})
		get := func() string {
			return passIn(t, post(t, d, "/v1/twilio/voice?pass=theirs", announced, nil).Body.String())
		}
		take := func(pass, call string) bool { return d.passes.take(token, pass, call, time.Now()) }
		first, second := get(), get()
		for _, bad := range []string{"", "theirs", ".", "..", first + "x", "x" + first,
			strings.Replace(first, ".", ".0", 1)} {
			if take(bad, "CA1") {
				t.Errorf("%q was taken", bad)
			}
		}
		switch {
		case take(first, "CA2"):
			t.Error("a pass of another call was taken")
		case !take(first, "CA1"):
			t.Error("a good pass was refused")
		case take(first, "CA1"):
			t.Error("a pass was taken twice")
		case d.passes.take("another", second, "CA1", time.Now()), d.passes.take("", second, "CA1", time.Now()):
			t.Error("a pass under another auth token was taken")
		}
		time.Sleep(passLife + 2*time.Second)
		if take(second, "CA1") {
			t.Error("an old pass was taken")
		}
		if !take(get(), "CA1") || len(d.passes.used) != 1 {
			t.Errorf("%d used passes are remembered, want the last alone", len(d.passes.used))
		}
	})
}

// TestPassesAreBounded: when as many as are remembered were used, no other is taken, and none
// twice.
func TestPassesAreBounded(t *testing.T) {
	var p passes
	now := time.Now()
	last := ""
	for i := range passMax {
		last = newPass(token, fmt.Sprint(i), now)
		if i == 0 || i == passMax-1 {
			if !p.take(token, last, fmt.Sprint(i), now) {
				t.Fatalf("pass %d was refused", i)
			}
			continue
		}
		if p.used == nil {
			p.used = map[string]time.Time{}
		}
		p.used[last] = now.Add(passLife)
	}
	if p.take(token, newPass(token, "x", now), "x", now) || p.take(token, last, fmt.Sprint(passMax-1), now) {
		t.Error("one more was taken")
	}
	if later := now.Add(2 * passLife); !p.take(token, newPass(token, "x", later), "x", later) || len(p.used) != 1 {
		t.Errorf("later %d are remembered, want 1", len(p.used))
	}
}

// TestShown: a signed stream needs the pass of /voice, or the secret; one whose TwiML is the
// integrator's needs none.
func TestShown(t *testing.T) {
	pass := func(call string) map[string]string {
		return map[string]string{paramPass: newPass(token, call, time.Now())}
	}
	for _, tt := range []struct {
		name   string
		cfg    Config
		params map[string]string
		want   bool
	}{
		{"no pass", Config{}, nil, false},
		{"a pass", Config{}, pass("CA1"), true},
		{"a pass of another call", Config{}, pass("CA2"), false},
		{"the secret", Config{Secret: secret}, map[string]string{paramSecret: secret}, true},
		{"a wrong secret", Config{Secret: secret}, map[string]string{paramSecret: "x"}, false},
		{"no secret is configured", Config{}, map[string]string{paramSecret: ""}, false},
		{"TwiML of one's own", Config{OwnTwiML: true}, nil, true},
	} {
		d := publicEndpoint(t, tt.cfg)
		r := upgrade(outside, signatureHeader, sign("wss://voice.example.com/v1/twilio"))
		missing, err := d.admit(r)
		s := &start{call: "CA1", params: tt.params}
		if got := err == nil && d.shown(missing, s); got != tt.want {
			t.Errorf("%s: taken is %v", tt.name, got)
		}
		for name := range s.hello("").Params {
			t.Errorf("%s: the parameter %s is handed on", tt.name, name)
		}
	}
}

// proofLines note whether handshakes are proven.
type proofLines struct {
	noLines
	proven *[]bool
}

func (l proofLines) Take(h transport.Handshake) (transport.Line, error) {
	*l.proven = append(*l.proven, h.Proven)
	return l.noLines.Take(h)
}

// TestReplayTakesNoLine: a signed upgrade that is sent again holds no line before it has shown a
// pass.
func TestReplayTakesNoLine(t *testing.T) {
	var proven []bool
	d := publicEndpoint(t, Config{Lines: proofLines{proven: &proven}})
	w := post(t, d, "/v1/twilio", "", func(r *http.Request) {
		*r = *upgrade(outside, signatureHeader, sign("wss://voice.example.com/v1/twilio"))
		r.Host = "voice.example.com"
	})
	if w.Code != http.StatusServiceUnavailable || len(proven) != 1 || proven[0] {
		t.Errorf("answered %d; proven: %v", w.Code, proven)
	}
}
