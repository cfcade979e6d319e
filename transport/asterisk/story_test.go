package asterisk_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport/asterisk"
	"github.com/voicegw/voicegw/transport/phone/phonetest"
)

// exchange is a gateway with this endpoint between a model and Asterisk, over sockets.
type exchange struct {
	*world
	model *sim.Server
	url   string
	asked chan string // of Asterisk's REST interface
}

// newExchange makes one in which the model has the caller transferred to "sales" when it reads of
// the key 9. It ends with the test.
func newExchange(t *testing.T) *exchange {
	t.Helper()
	script, err := sim.ParseScenario("a story", `on text "pressed 9": call transfer {}`)
	if err != nil {
		t.Fatal(err)
	}
	model, err := sim.New(sim.Config{Scenario: script})
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	transfer := voicegw.Tool{Name: "transfer", Description: "has somebody else take the call",
		Call: func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			s, _ := voicegw.SessionOf(ctx)
			return nil, s.HandOff("sales")
		}}
	gw, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: model.URL()}, Tools: []voicegw.Tool{transfer}})
	if err != nil {
		t.Fatal(err)
	}
	e := &exchange{world: &world{t: t, gw: gw}, model: model, asked: make(chan string, 8)}
	rest := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked <- r.Method + " " + r.URL.Path + " " + r.URL.RawQuery
		w.WriteHeader(http.StatusNoContent)
	}))
	endpoint, err := asterisk.New(asterisk.Config{Lines: gw.Lines(), Targets: map[string]string{"sales": "200"},
		ARI: asterisk.ARI{URL: rest.URL + "/ari", User: "u", Password: "p"}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(endpoint)
	e.url = strings.Replace(server.URL, "http", "ws", 1) + "/v1/asterisk?channel=176.1"
	t.Cleanup(func() {
		_ = gw.Close()
		_ = endpoint.Close()
		server.Close()
		rest.Close()
		_ = model.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return e
}

// reads waits until the model was sent a text that holds these words.
func (e *exchange) reads(words string) {
	e.t.Helper()
	e.eventually("the model reads "+words, func() bool {
		for _, c := range e.model.Connections() {
			for _, text := range c.Texts {
				if strings.Contains(text.Text, words) {
					return true
				}
			}
		}
		return false
	})
}

// TestKeysAndHandOff: what the caller presses reaches the model; it has somebody else take the
// call, the caller's channel is sent there over the REST interface, and the call is hung up in so
// many words.
func TestKeysAndHandOff(t *testing.T) {
	for _, dialect := range []string{phonetest.Asterisk, phonetest.AsteriskPlain} {
		t.Run(dialect, func(t *testing.T) {
			e := newExchange(t)
			p, err := phonetest.Dial(t.Context(), phonetest.Config{URL: e.url, Dialect: dialect})
			if err != nil {
				t.Fatal(err)
			}
			defer p.HangUp()
			for _, key := range []string{"4", "2", "#"} {
				p.Press(key)
			}
			e.reads("pressed 42")
			p.Press("9")
			const want = "POST /ari/channels/176.1/variable value=200&variable=VOICEGW_TRANSFER"
			if got := <-e.asked; got != want {
				t.Errorf("the REST interface was asked %q, want %q", got, want)
			}
			<-p.Done()
			if _, hungUp := p.End(); !hungUp {
				t.Error("the call was not hung up in so many words")
			}
			if err := p.Strange(); err != nil {
				t.Error(err)
			}
		})
	}
}
