package ws_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// A gateway that says back each frame until the caller hangs up, and a caller of one frame.
func Example() {
	ctx := context.Background()
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, err := ws.Accept(w, r, ws.Config{})
		if err != nil {
			return // it was answered
		}
		defer peer.Close(transport.ReasonCallerHungUp, "")
		_ = peer.Ready(ctx, transport.Ready{Call: "c-1"})
		_ = peer.Send(ctx, &transport.Message{Kind: transport.MessageTurn, State: transport.StateStart, Generation: 1})
		var ev transport.Event
		for peer.Recv(ctx, &ev) == nil && ev.Kind == transport.EventAudio {
			_ = peer.SendAudio(ctx, 1, ev.PCM)
		}
	}))
	defer gateway.Close()

	url := "ws" + strings.TrimPrefix(gateway.URL, "http")
	call, err := ws.Dial(ctx, url, transport.Hello{InputRateHz: 8000, OutputRateHz: 8000}, ws.DialConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer call.Close()
	_ = call.SendAudio(ctx, make([]int16, 160))
	var m transport.Message
	for range 2 {
		_ = call.Recv(ctx, &m)
		fmt.Println(m.Kind, m.State, len(m.PCM))
	}
	_ = call.SendEvent(ctx, &transport.Event{Kind: transport.EventBye})
	_ = call.Recv(ctx, &m)
	fmt.Println(m.Kind, m.Reason)
	// Output:
	// turn start 0
	// audio  160
	// bye caller_hung_up
}

// hotline is a gateway that takes every call, says nothing and hangs up.
type hotline struct{}

func (hotline) Take(transport.Handshake) (transport.Line, error) { return hotline{}, nil }

func (hotline) Check(context.Context, *transport.Hello) error { return nil }

func (hotline) Call(_ context.Context, p transport.Peer) error {
	fmt.Println(p.Hello().Endpoint, p.Hello().Params["customer"])
	return p.Close(transport.ReasonDone, "Call again tomorrow.")
}

func (hotline) Release() {}

// An endpoint of a gateway, on a path of the caller's own. A *voicegw.Gateway has Lines too.
func ExampleNew() {
	endpoint, err := ws.New(ws.Config{Lines: hotline{}, Origins: []string{"https://shop.example"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer endpoint.Close()
	server := httptest.NewServer(endpoint)
	defer server.Close()

	hello := transport.Hello{InputRateHz: 8000, OutputRateHz: 8000, Params: map[string]string{"customer": "4711"}}
	_, err = ws.Dial(context.Background(), "ws"+strings.TrimPrefix(server.URL, "http"), hello, ws.DialConfig{})
	var refused *ws.Refused
	fmt.Println(errors.As(err, &refused), refused.Message)
	// Output:
	// ws 4711
	// true Call again tomorrow.
}
