package asterisk_test

import (
	"fmt"
	"net/http"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport/asterisk"
)

// A gateway that takes calls from an Asterisk on the same machine.
func Example() {
	gateway, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gateway.Close()
	endpoint, err := asterisk.New(asterisk.Config{Lines: gateway.Lines(), Targets: map[string]string{"sales": "200"},
		ARI: asterisk.ARI{URL: "http://127.0.0.1:8088/ari", User: "voicegw", Password: "secret"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer endpoint.Close()
	mux := http.NewServeMux()
	mux.Handle("/v1/asterisk", endpoint)
	fmt.Println(gateway.Calls(), "calls")
	// Output:
	// 0 calls
}
