package voicegw_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
	"github.com/voicegw/voicegw/transport"
)

// A gateway is mounted in a server of one's own.
func Example() {
	gw, err := voicegw.New(voicegw.Config{
		Dialer:   live.Wire{APIKey: "the key of the Gemini API"},
		Greeting: "Greet the caller.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gw.Close()

	mux := http.NewServeMux()
	mux.Handle("/v1/voice", gw.Voice()) // for browsers
	mux.Handle("/readyz", gw)           // for whoever watches
	server := httptest.NewServer(mux)   // or http.ListenAndServe
	defer server.Close()

	resp, err := http.Get(server.URL + "/readyz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status, gw.Calls(), "calls")
	// Output: 200 OK 0 calls
}

// answerphone is a media source of one's own: a transport.Peer that records what the model says,
// and hangs up when that is over.
type answerphone struct {
	events chan transport.Event
	ended  chan struct{}
	once   sync.Once

	played int64 // ms
}

// Hello asks for rates, and perhaps a language.
func (t *answerphone) Hello() transport.Hello {
	return transport.Hello{InputRateHz: 8000, OutputRateHz: 8000}
}

// Ready says that the call stands.
func (t *answerphone) Ready(_ context.Context, r transport.Ready) error {
	fmt.Println("the model speaks first:", r.Greeting)
	return nil
}

// Recv hands over what the far end sends: here acknowledgements and the hang-up; a telephone would
// send transport.EventAudio all the time.
func (t *answerphone) Recv(ctx context.Context, ev *transport.Event) error {
	select {
	case *ev = <-t.events:
		return nil
	case <-t.ended:
		return &transport.Ended{Reason: transport.ReasonDone, Message: "The tape is full."}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SendAudio takes a frame of the reply and acknowledges it at once: a tape needs no time to play.
func (t *answerphone) SendAudio(_ context.Context, generation uint64, pcm []int16) error {
	t.played += int64(len(pcm)) / 8
	return t.post(transport.Event{Kind: transport.EventAck, Generation: generation, PlayedMS: t.played})
}

// Send takes everything else.
func (t *answerphone) Send(_ context.Context, m *transport.Message) error {
	if m.Kind != transport.MessageTurn {
		return nil
	}
	fmt.Println("turn:", m.State)
	if m.State != transport.StateEnd {
		return nil
	}
	return t.post(transport.Event{Kind: transport.EventBye})
}

func (t *answerphone) post(ev transport.Event) error {
	select {
	case t.events <- ev:
		return nil
	case <-t.ended:
		return transport.ErrStalled
	}
}

// Close ends the call.
func (t *answerphone) Close(reason transport.Reason, _ string) error {
	t.once.Do(func() {
		fmt.Println("the end:", reason)
		close(t.ended)
	})
	return nil
}

// A media source of one's own takes the place of the browser.
func ExampleGateway_Call() {
	model, err := sim.New(sim.Config{Greeting: make([]int16, 24000), Speed: 100}) // a second
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := model.Start("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	defer model.Close()
	gw, err := voicegw.New(voicegw.Config{
		Dialer: live.Wire{BaseURL: model.URL()}, Greeting: "Greet the caller.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gw.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	t := &answerphone{events: make(chan transport.Event, 16), ended: make(chan struct{})}
	if err := gw.Call(ctx, t); err != nil {
		fmt.Println(err)
	}
	fmt.Println("recorded", t.played, "ms")
	// Output:
	// the model speaks first: true
	// turn: start
	// turn: end
	// the end: caller_hung_up
	// recorded 1000 ms
}
