package ws

import (
	"context"
	"net/http"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
	"github.com/voicegw/voicegw/transport/resume"
)

// Limits of the handshakes that go on with a call, in all and of one address. One more ends the
// oldest.
const (
	resumingMax        = 64
	resumingPerAddress = 16
)

// resume gives a call that has lost its connection another one. The call has its line already, so
// the handshake takes none. The error says why the client was refused.
func (e *Endpoint) resume(w http.ResponseWriter, r *http.Request) error {
	handshake, _, line, err := e.visits.Begin(r, admission.Resuming{Backlog: e.resuming}, false)
	if err != nil {
		admission.Refuse(w, err)
		return err
	}
	defer line.Release()
	var call *resume.Peer
	conn, err := accept(w, r.WithContext(handshake), e.cfg, func(_ context.Context, h *transport.Hello) (err error) {
		if call, err = e.calls.Find(h.Resume.Handle, h.Token); err != nil {
			return err
		}
		return sameRates(h, call.Hello())
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(handshake, e.cfg.HelloTimeout)
	defer cancel()
	if err := call.Attach(ctx, conn); err != nil {
		ended := transport.Refusal(ctx, err)
		_ = conn.Close(ended.Reason, ended.Message)
		return err
	}
	return nil
}

// sameRates returns a refusal of a hello whose rates are not those of the call.
func sameRates(h *transport.Hello, of transport.Hello) error {
	if h.InputRateHz != of.InputRateHz || h.OutputRateHz != of.OutputRateHz || h.Version != of.Version {
		return &transport.FieldError{Event: "hello", Field: "resume", Value: "of a call with other rates",
			Want: "with the version, the input_rate and the output_rate of the call"}
	}
	return nil
}
