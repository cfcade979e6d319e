package transport_test

import (
	"fmt"

	"github.com/voicegw/voicegw/transport"
)

// A budget of frames: what was handed over comes back as it is heard, or dropped by a clear.
func ExampleAckCounter() {
	var c transport.AckCounter
	c.Sent(1, 20)
	fmt.Println(c.Ack(1, 100, false).Played, "heard,", c.Open(1), "open")
	a := c.Ack(1, 180, true)
	fmt.Println(a.Played, "heard,", a.Dropped, "dropped,", c.Open(1), "open")
	// Output:
	// 5 heard, 15 open
	// 4 heard, 11 dropped, 0 open
}

func ExampleHello_Check() {
	h := transport.Hello{Version: 1, InputRateHz: 48000, OutputRateHz: 24000, Instructions: "sales"}
	fmt.Println(h.Check(transport.Offer{Instructions: []string{"support"}}))
	// Output:
	// hello: instructions is a string of 5 bytes; it must be absent or one of "support"
}
