package wsclient_test

import (
	"fmt"

	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

func ExampleParseBargeIn() {
	path, after, err := wsclient.ParseBargeIn("over.wav@2s")
	fmt.Println(path, after, err)
	_, _, err = wsclient.ParseBargeIn("over.wav")
	fmt.Println(err)
	// Output:
	// over.wav 2s <nil>
	// barge-in "over.wav": want FILE@TIME, such as over.wav@2s
}

func ExampleParseEcho() {
	e, err := wsclient.ParseEcho("120ms,-15dB")
	fmt.Println(e.Delay, e.GainDB, err)
	_, err = wsclient.ParseEcho("120ms,3dB")
	fmt.Println(err)
	// Output:
	// 120ms -15 <nil>
	// echo "120ms,3dB": wsclient: check echo: 120ms and 3 dB; the delay must be 0 to 2s, the level at most 0 dB
}
