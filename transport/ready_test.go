package transport_test

import (
	"reflect"
	"testing"

	"github.com/voicegw/voicegw/transport"
)

// TestReadyIsCompleted keeps what the gateway said, and takes the rest from the hello and the
// endpoint.
func TestReadyIsCompleted(t *testing.T) {
	asked := transport.Hello{InputRateHz: 16000, OutputRateHz: 48000, Detection: transport.DetectionModelVAD}
	full := transport.Ready{InputRateHz: 8000, OutputRateHz: 24000, Detection: transport.DetectionPush, MessageBytesMax: 7}
	for name, tt := range map[string]struct {
		hello      transport.Hello
		said, want transport.Ready
	}{
		"all is said": {asked, full, full},
		"nothing is": {asked, transport.Ready{Call: "c"}, transport.Ready{Call: "c", InputRateHz: 16000, OutputRateHz: 48000,
			Detection: transport.DetectionModelVAD, MessageBytesMax: 9}},
		"nobody says who detects": {transport.Hello{}, transport.Ready{}, transport.Ready{
			Detection: transport.DetectionGatewayVAD, MessageBytesMax: 9}},
	} {
		if tt.said.Complete(&tt.hello, 9); !reflect.DeepEqual(tt.said, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, tt.said, tt.want)
		}
	}
}
