package sim_test

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// A test talks to a model that closes in place of an answer, and looks at what the model remembers.
func Example() {
	server, err := sim.New(sim.Config{Faults: sim.Faults{
		CloseAt: &sim.CloseAt{Messages: 1, Code: 1011, Reason: "Internal error encountered."},
	}})
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
	conn, err := live.Wire{BaseURL: server.URL()}.Dial(ctx, live.Setup{Model: sim.ModelName})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(1000, "")
	if err := conn.Send(ctx, live.ClientMessage{Kind: live.ClientText, Text: "Hello?"}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(conn.Recv(ctx, new(live.ServerMessage)))
	for _, e := range server.Connections()[0].Events {
		fmt.Printf("%s %q\n", e.Name, e.Detail)
	}
	// Output:
	// live: the model's service failed (close 1011: "Internal error encountered."); try again in a moment
	// setup "models/parrot"
	// setup_complete ""
	// close "1011 Internal error encountered."
}
