package openai

import (
	"net/http"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport/wsdoor"
)

// Name is the door in Hello.Door.
const Name = "openai"

// truncateWait is how long a clear waits for conversation.item.truncate, in which a client says what was heard.
const truncateWait = 200 * time.Millisecond

// Subprotocols of browsers, which can send no header: they offer both.
const (
	subprotocol       = "realtime"
	keySubprotocol    = "openai-insecure-api-key."
	pcmRateHz         = 24000 // of audio/pcm
	g711RateHz        = 8000  // of audio/pcmu and audio/pcma
	defaultModel      = "gpt-realtime"
	modelLenMax       = 128
	clientEventLenMax = 128
)

// Config is how the door behaves.
type Config = wsdoor.Config

// Door is an http.Handler that takes calls of OpenAI Realtime clients. It must be closed.
type Door = wsdoor.Door

// New makes a door for cfg.Lines. Mount it on any path; clients put /realtime behind their base URL.
func New(cfg Config) (*Door, error) {
	return wsdoor.New(cfg, wsdoor.Protocol{
		Name:         Name,
		Subprotocols: []string{subprotocol},
		ClearWait:    truncateWait,
		Token:        token,
		Codec:        func(r *http.Request) wsdoor.Codec { return newCodec(r) },
	})
}

// token is the client's key: a bearer's, or hidden in a subprotocol.
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
