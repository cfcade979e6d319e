package webhook

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// Call is what a request says about its call.
type Call struct {
	ID       string            `json:"id,omitempty"` // not yet known to the begin webhook
	Endpoint string            `json:"endpoint"`
	From     string            `json:"from,omitempty"`
	To       string            `json:"to,omitempty"`
	Client   string            `json:"client,omitempty"`
	Language string            `json:"language,omitempty"`
	Params   map[string]string `json:"params,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// callOf is what a request says about a call, without its token.
func callOf(id string, h *transport.Hello, labels map[string]string) Call {
	return Call{ID: id, Endpoint: h.Endpoint, From: h.From, To: h.To, Client: h.Client, Language: h.Language,
		Params: h.Params, Labels: labels}
}

// sessionOf is what a request says about a call that is up.
func sessionOf(s *voicegw.Session) Call {
	h := s.Hello()
	return callOf(s.ID(), &h, s.Labels())
}

// toolRequest asks for the result of a function.
type toolRequest struct {
	Type      string          `json:"type"` // "tool"
	Call      Call            `json:"call"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// Tool returns t with the server as its function. The JSON that the server answers goes to the model, and so does the
// text of an error. All tries together may take as long as Config.Timeout. log gets a warning when it does not answer
// well; nil disables it.
func (h *Hook) Tool(t voicegw.Tool, log *zap.Logger) voicegw.Tool {
	name, log := t.Name, logged(log)
	t.Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
		ctx, cancel := context.WithTimeout(ctx, h.cfg.Timeout)
		defer cancel()
		trace := traced{}
		in := toolRequest{Type: "tool", Name: name, Arguments: args}
		if s, ok := voicegw.SessionOf(ctx); ok {
			hello := s.Hello()
			in.Call, trace = sessionOf(s), traced{hello.Trace, hello.TraceState}
		}
		out, err := h.post(ctx, rand.Text(), trace, in)
		if err != nil && !cancelled(err) {
			log.Warn("a webhook did not answer", zap.String("tool", name), zap.String("call", in.Call.ID),
				zap.String("why", err.Error()), zap.NamedError("error", unwrapped(err)))
		}
		return out, err
	}
	return t
}

// cancelled reports whether a request ended because nobody waited for it any more.
func cancelled(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Result == Cancelled
}

// logged is a log that may be nil.
func logged(log *zap.Logger) *zap.Logger {
	if log == nil {
		return zap.NewNop()
	}
	return log
}

// unwrapped is the error below an *Error, which names what a model must not know; nil for other errors, whose text
// says it all.
func unwrapped(err error) error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // Post returns nothing else
		return e.Err
	}
	return nil
}
