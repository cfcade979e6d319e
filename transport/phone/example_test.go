package phone_test

import (
	"fmt"
	"time"

	"github.com/voicegw/voicegw/transport/phone"
)

// A far end is handed 200 ms of sound, returns one mark, and is told to drop the rest 60 ms later.
func ExamplePlayout() {
	var p phone.Playout
	now := time.Unix(0, 0)
	p.Start(7)
	var names [][]byte
	for range 10 {
		if p.Sent(now) {
			names = append(names, p.AppendMark(nil, ""))
		}
	}
	fmt.Printf("%s\n", names)
	acks, _ := p.Returned(nil, names[1], now.Add(130*time.Millisecond))
	fmt.Println(acks[0].PlayedMS, "ms heard")
	fmt.Println(p.Clear(7, now.Add(190*time.Millisecond)), "ms heard at the clear")
	// Output:
	// [g7:20:1 g7:120:2]
	// 120 ms heard
	// 180 ms heard at the clear
}
