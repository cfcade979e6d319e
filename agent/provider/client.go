package provider

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"

	"google.golang.org/adk/v2/model"
)

// wire is how one provider writes requests and responses over HTTP.
type wire struct {
	traits
	path   string
	header func(h http.Header, key string)
	encode func(p *prompt, o object) error                       // adds what a request needs beside options
	whole  func(body []byte, a *answer) error                    // reads a response
	events func(a *answer) frameFunc                             // reads the frames of a stream
	split  func(r io.Reader, lineMax int, frame frameFunc) error // finds them
}

// object is a JSON object under construction.
type object map[string]any

// body writes a request.
func (w *wire) body(p *prompt, stream bool) (object, error) {
	o := object{"model": p.model, "stream": stream}
	p.setOptions(w.traits, o)
	return o, w.encode(p, o)
}

// wires are the providers of this package's own client.
func wires() map[string]wire {
	return map[string]wire{OpenAI: responsesWire(), Compatible: chatWire(), Anthropic: anthropicWire(),
		Ollama: ollamaWire()}
}

// client is a model behind a wire.
type client struct {
	*link
	wire wire
}

// GenerateContent sends a request and yields the response: with stream first its words as they come.
func (c *client) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		p, err := newPrompt(c.link, c.wire.traits, r)
		var body object
		if err == nil {
			body, err = c.wire.body(p, stream)
		}
		var b []byte
		if err == nil {
			b, err = json.Marshal(body)
		}
		if err != nil {
			yield(nil, c.signed(err, 0))
			return
		}
		partial := yield
		if !stream {
			partial = nil
		}
		c.ask(ctx, p, partial, yield, func(ctx context.Context, a *answer) error {
			resp, err := c.post(ctx, c.wire.path, b, c.wire.header)
			if err != nil {
				return err
			}
			defer resp.Close()
			a.model = p.model
			if stream {
				return c.wire.split(resp, c.limits.Line, stopping(a, c.wire.events(a)))
			}
			all, err := io.ReadAll(resp)
			if err != nil {
				return err
			}
			return c.wire.whole(all, a)
		})
	}
}

// stopping ends a stream once nobody takes the rest.
func stopping(a *answer, f frameFunc) frameFunc {
	return func(event string, data []byte) (bool, error) {
		done, err := f(event, data)
		return done || a.gone, err
	}
}

// bearer sends a key as most providers want it.
func bearer(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }
