package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/control"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// TestCallInDocs: the call of docs/control.md has the fields that a call has.
func TestCallInDocs(t *testing.T) {
	t.Parallel()
	d := json.NewDecoder(strings.NewReader(snippet(t, "docs/control.md", "{").text))
	d.DisallowUnknownFields()
	var c control.Call
	if err := d.Decode(&c); err != nil || c.State.Phase != voicegw.PhaseReply || !c.State.ModelOnline {
		t.Errorf("%+v: %v", c, err)
	}
}

// TestControlCalls: operators steer a call at the admin listener, and with a token of the right scope at the public
// address. The log says who did what, although its level is error.
func TestControlCalls(t *testing.T) {
	t.Parallel()
	secret := writeFile(t, "secret", bytes.Repeat([]byte("s"), 40))
	s := startServe(t, nil, "--admin-listen", "127.0.0.1:0", "--access-secret-file", secret, "--log-level", "error")
	s.stderr.waitFor(t, "the admin listener is at ")
	admin := regexp.MustCompile(`the admin listener is at (http://127\.0\.0\.1:\d+/)`).
		FindStringSubmatch(s.stderr.String())[1]
	token := func(args ...string) string {
		out := command(t, nil, append([]string{"token", "--access-secret-file", secret}, args...)...)
		out.want(t, 0)
		return strings.TrimSpace(out.stdout)
	}
	do := func(base, token, method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		out, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(out)
	}
	c, err := ws.Dial(t.Context(), s.voiceURL, transport.Hello{InputRateHz: 8000, OutputRateHz: 8000,
		Token: token("--tenant", "acme")}, ws.DialConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var m transport.Message
	for m.Kind != transport.MessageTurn { // the call is up
		if err := c.Recv(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{"console/": "Running calls", "console/api/calls": `"phase":`} {
		if code, body := do(admin, "", "GET", path, ""); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.300s", path, code, body)
		}
	}
	_, list := do(admin, "", "GET", "v1/calls", "")
	found := regexp.MustCompile(`"id":"(c-[0-9a-f]+)".*"labels":{"tenant":"acme"}`).FindStringSubmatch(list)
	if found == nil {
		t.Fatalf("the calls are %s", list)
	}
	at := "v1/calls/" + found[1]
	for _, r := range []struct {
		base, token string
		code        int
	}{
		{admin, "", 200}, {s.url, token("--tenant", "acme", "--subject", "eve", "--scope", "control"), 200},
		{s.url, token("--scope", "control"), 200}, {s.url, token("--tenant", "globex", "--scope", "control"), 404},
		{s.url, token("--tenant", "acme"), 401}, {s.url, "", 401},
	} {
		for _, on := range []bool{true, false} {
			code, out := do(r.base, r.token, "POST", at+"/hold", fmt.Sprintf(`{"on":%t}`, on))
			if code != r.code || code == 200 && !strings.Contains(out, found[1]) {
				t.Errorf("hold at %s: %d %s, want %d", r.base, code, out, r.code)
			}
		}
	}
	if code, out := do(admin, "", "POST", at+"/hang-up", ""); code != 200 {
		t.Errorf("hang-up: %d %s", code, out)
	}
	s.end()
	log := s.stderr.String()
	for _, who := range []string{"admin listener", "acme/eve (token ", `"action": "hang-up"`} {
		if !strings.Contains(log, who) {
			t.Errorf("the log has no %q:\n%s", who, log)
		}
	}
	if strings.Contains(log, "globex") {
		t.Errorf("the log has a request that no call got:\n%s", log)
	}
}

// TestAuditLogOnAFullDisk: an audit log that cannot be written stops neither calls nor operators. A metric counts the
// lines that are lost.
func TestAuditLogOnAFullDisk(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	p, url, admin := serveInto(t, full)
	c, err := ws.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http")+"v1/voice",
		transport.Hello{InputRateHz: 8000, OutputRateHz: 8000}, ws.DialConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var id string
	listed := func() bool {
		_, out := get(t, http.DefaultClient, "http://"+admin+"/v1/calls")
		if m := regexp.MustCompile(`"id":"(c-[0-9a-f]+)"`).FindStringSubmatch(out); m != nil {
			id = m[1]
		}
		return id != ""
	}
	if !waitFor(listed, patience) {
		t.Fatal("no call is listed")
	}
	for _, action := range []string{"hold", "mute", "hold"} {
		resp, err := http.Post("http://"+admin+"/v1/calls/"+id+"/"+action, "", strings.NewReader(`{"on":true}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", action, resp.Status)
		}
	}
	lost := func() bool {
		_, text := get(t, http.DefaultClient, "http://"+admin+"/metrics")
		return strings.Contains(text, "\nvoicegw_audit_lines_lost_total 3\n")
	}
	if !waitFor(lost, patience) {
		t.Error("the metrics do not count the lines that are lost")
	}
	if _, out := get(t, http.DefaultClient, "http://"+admin+"/v1/calls/"+id); !strings.Contains(out, `"on_hold":true`) {
		t.Errorf("the call is %s", out)
	}
	p.signal(syscall.SIGTERM)
	if code, _ := p.wait(); code != 0 {
		t.Errorf("serve ended with %d", code)
	}
}
