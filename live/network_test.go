package live

import (
	"context"
	"net/http"
	"testing"

	"github.com/coder/websocket"

	"github.com/voicegw/voicegw/transport/ws/wstest"
)

// pipeServer serves handler inside the bubble until the test ends, and returns a Wire that leads to
// it.
func pipeServer(handler http.Handler) (w Wire, stop func()) {
	p := wstest.NewNarrow()
	server := &http.Server{Handler: handler}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(p)
	}()
	transport := &http.Transport{DialContext: p.Dial, DisableKeepAlives: true}
	w = Wire{BaseURL: "ws://model", HTTPClient: &http.Client{Transport: transport}}
	return w, func() {
		_ = server.Close()
		<-ended
	}
}

// model is a server's end of a conversation.
type model struct {
	t  *testing.T
	ws *websocket.Conn
}

// serveModel upgrades, reads the setup and hands over to f. When f returns the connection is cut.
func serveModel(t *testing.T, opts *websocket.AcceptOptions, f func(m model)) http.Handler {
	return watchModelWith(t, opts, func(_ []byte, m model) { f(m) })
}

// watchModel hands over the setup, too.
func watchModel(t *testing.T, f func(setup []byte, m model)) http.Handler {
	return watchModelWith(t, nil, f)
}

func watchModelWith(t *testing.T, opts *websocket.AcceptOptions, f func(setup []byte, m model)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, opts)
		if err != nil {
			t.Errorf("accept: %v", err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		ws.SetReadLimit(-1)
		_, setup, err := ws.Read(context.Background())
		if err != nil {
			t.Errorf("read setup: %v", err)
			return
		}
		f(setup, model{t, ws})
	})
}

// send sends a message; it may fail, when the client is gone.
func (m model) send(text string) error {
	return m.ws.Write(context.Background(), websocket.MessageText, []byte(text))
}

func (m model) accept() { _ = m.send(`{"setupComplete":{}}`) }

func (m model) close(code int, reason string) { _ = m.ws.Close(websocket.StatusCode(code), reason) }

// listen reads until the connection ends, and returns the messages and the reason.
func (m model) listen() (messages []string, err error) {
	for {
		_, data, err := m.ws.Read(context.Background())
		if err != nil {
			return messages, err
		}
		messages = append(messages, string(data))
	}
}
