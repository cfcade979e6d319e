package openai

import (
	"net/http"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// Name is the endpoint's name in Hello.Endpoint.
const Name = "openai"

// truncateWait is how long a clear waits for conversation.item.truncate, in which a client reports
// what was played.
const truncateWait = 200 * time.Millisecond

// Subprotocols of browsers, which cannot send a header: they offer both.
const (
	subprotocol       = "realtime"
	keySubprotocol    = "openai-insecure-api-key."
	pcmRateHz         = 24000 // of audio/pcm
	g711RateHz        = 8000  // of audio/pcmu and audio/pcma
	defaultModel      = "gpt-realtime"
	modelLenMax       = 128
	clientEventLenMax = 128
)

// Config configures the endpoint.
type Config = wsendpoint.Config

// Endpoint is an http.Handler that takes calls of OpenAI Realtime clients. It must be closed.
type Endpoint = wsendpoint.Endpoint

// New makes an endpoint for cfg.Lines. Mount it on any path; clients append /realtime to their base
// URL.
func New(cfg Config) (*Endpoint, error) {
	return wsendpoint.New(cfg, wsendpoint.Protocol{
		Name:         Name,
		Subprotocols: []string{subprotocol},
		ClearWait:    truncateWait,
		Token:        token,
		Codec:        func(r *http.Request) wsendpoint.Codec { return newCodec(r) },
	})
}

// token returns the client's key: a bearer token, or the key in a subprotocol.
func token(r *http.Request) string {
	if kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(key)
	}
	if key := r.Header.Get("Api-Key"); key != "" {
		return key
	}
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for p := range strings.SplitSeq(line, ",") {
			if key, ok := strings.CutPrefix(strings.TrimSpace(p), keySubprotocol); ok {
				return key
			}
		}
	}
	return ""
}
