package mediastream_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport/mediastream"
)

// A gateway with a telephone endpoint: what Twilio is told when somebody calls.
func Example() {
	gateway, err := voicegw.New(voicegw.Config{Dialer: live.Wire{BaseURL: "ws://127.0.0.1:1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gateway.Close()
	endpoint, err := mediastream.New(mediastream.Config{Lines: gateway.Lines(), PublicURL: "https://voice.example.com"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer endpoint.Close()
	server := httptest.NewServer(endpoint)
	defer server.Close()
	resp, err := server.Client().Post(server.URL+"/v1/twilio/voice?language=de-DE", "application/x-www-form-urlencoded",
		strings.NewReader("CallSid=CA1&From=%2B4930123"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.StatusCode == http.StatusOK)
	body := new(strings.Builder)
	_ = resp.Write(body)
	for part := range strings.SplitSeq(body.String(), "><") {
		if strings.HasPrefix(part, "Stream") || strings.HasPrefix(part, "Parameter") {
			fmt.Println(part)
		}
	}
	// Output:
	// true
	// Stream url="wss://voice.example.com/v1/twilio"
	// Parameter name="from" value="+4930123"/
	// Parameter name="language" value="de-DE"/
}
