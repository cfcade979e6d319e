package live_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// Example talks to the embedded model. The same code talks to Google's.
func Example() {
	server, err := sim.New(sim.Config{
		Greeting:     make([]int16, 2400), // 100 ms at 24 kHz
		GreetingText: "Good morning.",
		Seed:         1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	if err := server.Start("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}

	ctx := context.Background()
	dialer := live.Wire{BaseURL: server.URL()} // with Google: live.Wire{APIKey: key}
	conn, err := dialer.Dial(ctx, live.Setup{SystemInstruction: "Be brief."})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(1000, "done")
	if err := conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: "Greet the caller."}); err != nil {
		fmt.Println(err)
		return
	}
	var m live.ServerMessage
	samples, text := 0, ""
	for m.Kind != live.ServerTurnComplete {
		if err := conn.Recv(ctx, &m); err != nil {
			fmt.Println(err)
			return
		}
		switch m.Kind {
		case live.ServerAudio:
			samples += len(m.PCM)
		case live.ServerModelTranscript:
			text += m.Text
		}
	}
	fmt.Printf("%q: %d samples at 24 kHz\n", text, samples)
	// Output: "Good morning.": 2400 samples at 24 kHz
}

// ExampleCloseError prints why a dial failed, for people, and the class of the failure for code.
func ExampleCloseError() {
	server, err := sim.New(sim.Config{APIKey: "the right one"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	if err := server.Start("127.0.0.1:0"); err != nil {
		fmt.Println(err)
		return
	}
	_, err = live.Wire{BaseURL: server.URL(), APIKey: "a-wrong-one"}.Dial(context.Background(), live.Setup{})
	fmt.Println(strings.ReplaceAll(err.Error(), "; ", ";\n"))
	if e, ok := err.(*live.CloseError); ok {
		fmt.Println(e.Class, e.Code)
	}
	// Output:
	// live: the model refused the API key (close 1007: "API key not valid. Please pass a valid API key.");
	// check that the key is complete, has not expired and may use the Gemini API
	// key 1007
}
