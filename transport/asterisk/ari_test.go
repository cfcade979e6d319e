package asterisk_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/asterisk"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
)

// scripted are lines whose calls follow a script in place of a gateway.
type scripted struct {
	call func(ctx context.Context, p transport.Peer) error
}

// Take takes a line.
func (s scripted) Take(transport.Handshake) (transport.Line, error) { return s, nil }

// Check takes every hello.
func (s scripted) Check(context.Context, *transport.Hello) error { return nil }

// Call follows the script.
func (s scripted) Call(ctx context.Context, p transport.Peer) error { return s.call(ctx, p) }

// Release does nothing.
func (s scripted) Release() {}

// transfer makes a call that is transferred to who takes it over, and returns what the REST
// interface, which answers with status after some time, was asked, and what became of it.
func transfer(t *testing.T, query, to string, edit func(cfg *asterisk.Config), status int, after time.Duration) (
	asked string, err error) {
	t.Helper()
	rest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		asked += strings.Join([]string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, user, password}, " ") + ";"
		w.Header().Set("Location", "/elsewhere")
		select {
		case <-time.After(after):
		case <-r.Context().Done():
		}
		w.WriteHeader(status)
	}))
	defer rest.Close()
	said := make(chan error, 1)
	cfg := asterisk.Config{Targets: map[string]string{"sales": "200"},
		ARI: asterisk.ARI{URL: rest.URL + "/ari/", User: "u", Password: "p", Timeout: time.Minute},
		Lines: scripted{func(ctx context.Context, p transport.Peer) error {
			_ = p.Ready(ctx, transport.Ready{})
			said <- p.Send(ctx, &transport.Message{Kind: transport.MessageTransfer, Text: to})
			return p.Close(transport.ReasonTransferred, "")
		}}}
	edit(&cfg)
	endpoint, err := asterisk.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(endpoint)
	defer server.Close()
	defer func() { _ = endpoint.Close() }()
	p, err := phonetest.Dial(t.Context(), phonetest.Config{URL: server.URL + "/?" + query, Dialect: phonetest.Asterisk})
	if err != nil {
		t.Fatal(err)
	}
	defer p.HangUp()
	err = <-said
	<-p.Done()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	return asked, err
}

func TestTransfer(t *testing.T) {
	same := func(*asterisk.Config) {}
	for _, tt := range []struct {
		name, query, to string
		edit            func(cfg *asterisk.Config)
		status          int
		after           time.Duration
		asked           string
		ok              bool
	}{
		{"from the dialplan", "channel=176.1", "sales", same, 204, 0,
			"POST /ari/channels/176.1/variable value=200&variable=VOICEGW_TRANSFER u p;", true},
		{"from Stasis", "channel=176.1", "300", func(cfg *asterisk.Config) { cfg.ARI.Context = "internal" }, 204, 0,
			"POST /ari/channels/176.1/continue context=internal&extension=300&priority=1 u p;", true},
		{"a channel with a slash", "channel=a%2F..%2Fb", "300", same, 204, 0,
			"POST /ari/channels/a%2F..%2Fb/variable value=300&variable=VOICEGW_TRANSFER u p;", true},
		{"no channel", "", "sales", same, 204, 0, "", false},
		{"no such channel", "channel=1", "sales", same, 404, 0,
			"POST /ari/channels/1/variable value=200&variable=VOICEGW_TRANSFER u p;", false},
		{"sent elsewhere", "channel=1", "sales", same, 302, 0,
			"POST /ari/channels/1/variable value=200&variable=VOICEGW_TRANSFER u p;", false},
		{"no answer", "channel=1", "sales", func(cfg *asterisk.Config) { cfg.ARI.Timeout = 100 * time.Millisecond }, 204,
			time.Minute,
			"POST /ari/channels/1/variable value=200&variable=VOICEGW_TRANSFER u p;", false},
		{"no extension", "channel=1", "200,1,Hangup", same, 204, 0, "", false},
		{"no REST interface", "channel=1", "sales", func(cfg *asterisk.Config) { cfg.ARI.URL = "" }, 204, 0, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked, err := transfer(t, tt.query, tt.to, tt.edit, tt.status, tt.after)
			if asked != tt.asked || (err == nil) != tt.ok {
				t.Errorf("asked %q, %v; want %q, ok %v", asked, err, tt.asked, tt.ok)
			}
			if tt.after > 0 && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("without an answer: %v", err)
			}
		})
	}
}
