package ws_test

import (
	"context"
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
