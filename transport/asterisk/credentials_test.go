package asterisk_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/asterisk"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
)

// TestPrepareCredentials: other credentials and targets count from the commit on, for Asterisk's requests and for the
// transfer of a call that runs. What is refused changes nothing.
func TestPrepareCredentials(t *testing.T) {
	asked := make(chan string, 1)
	rest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		asked <- user + " " + password + " " + r.URL.Query().Get("context") + " " + r.URL.Query().Get("extension")
		w.WriteHeader(http.StatusNoContent)
	}))
	defer rest.Close()
	begun, goOn := make(chan struct{}), make(chan struct{})
	before := asterisk.ARI{URL: rest.URL + "/ari/", User: "ari", Password: "old"}
	endpoint, err := asterisk.New(asterisk.Config{User: "pbx", Password: "old", ARI: before,
		Targets: map[string]string{"sales": "200"}, Lines: scripted{func(ctx context.Context, p transport.Peer) error {
			_ = p.Ready(ctx, transport.Ready{})
			close(begun)
			<-goOn
			_ = p.Send(ctx, &transport.Message{Kind: transport.MessageTransfer, Text: "sales"})
			return p.Close(transport.ReasonTransferred, "")
		}}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = endpoint.Close() }()
	judge := func(when string, old, now bool) {
		t.Helper()
		for password, want := range map[string]bool{"old": old, "new": now} {
			r := httptest.NewRequest("GET", "http://127.0.0.1/", nil)
			r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
				"Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
			r.SetBasicAuth("pbx", password)
			w := httptest.NewRecorder() // no connection to upgrade
			if endpoint.ServeHTTP(w, r); (w.Code != http.StatusUnauthorized) != want {
				t.Errorf("%s: the password %s gets %d", when, password, w.Code)
			}
		}
	}
	server := httptest.NewServer(endpoint)
	defer server.Close()
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth("pbx", "old")
	p, err := phonetest.Dial(t.Context(), phonetest.Config{URL: server.URL + "/?channel=1", Header: r.Header,
		Dialect: phonetest.Asterisk})
	if err != nil {
		t.Fatal(err)
	}
	defer p.HangUp()
	<-begun
	after := asterisk.ARI{URL: before.URL, User: "ari2", Password: "new", Context: "desk"}
	elsewhere := after
	elsewhere.URL = "http://192.0.2.1/ari"
	if _, err := endpoint.PrepareCredentials("pbx", "", after); err == nil {
		t.Error("the password can be taken away")
	}
	if _, err := endpoint.PrepareCredentials("pbx", "new", elsewhere); err == nil {
		t.Error("a password can go to another server")
	}
	commit, err := endpoint.PrepareCredentials("pbx", "new", after)
	if err != nil {
		t.Fatal(err)
	}
	next := map[string]string{"sales": "300"}
	retarget, err := endpoint.PrepareTargets(next)
	if err != nil {
		t.Fatal(err)
	}
	judge("before the commit", true, false)
	commit()
	retarget()
	next["sales"] = "400"
	if _, err := endpoint.PrepareTargets(map[string]string{"sales": "500", "desk": "a,b"}); err == nil ||
		!strings.Contains(err.Error(), `the target "desk" is not an extension`) {
		t.Errorf("a target that is no extension: %v", err)
	}
	judge("afterwards", false, true)
	close(goOn)
	if got := <-asked; got != "ari2 new desk 300" {
		t.Errorf("the REST interface is asked by %q", got)
	}
	<-p.Done()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	open, err := asterisk.New(asterisk.Config{Lines: &tap{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.PrepareCredentials("pbx", "new", asterisk.ARI{}); err == nil {
		t.Error("an endpoint without a password takes one")
	}
}
