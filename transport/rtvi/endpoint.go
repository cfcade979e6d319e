package rtvi

import (
	"net/http"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// Name is the endpoint's name in Hello.Endpoint.
const Name = "rtvi"

// Lead is how much of a reply is sent ahead of what was played: an interruption cannot take it
// back.
const Lead = 100 * time.Millisecond

// Config configures the endpoint.
type Config = wsendpoint.Config

// Endpoint is an http.Handler that takes calls of RTVI clients. It must be closed.
type Endpoint = wsendpoint.Endpoint

// New makes an endpoint for cfg.Lines. Mount it on any path.
func New(cfg Config) (*Endpoint, error) {
	return wsendpoint.New(cfg, wsendpoint.Protocol{
		Name:   Name,
		Binary: true,
		Lead:   Lead,
		Token:  token,
		Codec:  func(*http.Request) wsendpoint.Codec { return &codec{} },
	})
}

// token returns the client's token, from the only place where the client can put it, or a bearer
// token.
func token(r *http.Request) string {
	if kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(key)
	}
	return r.URL.Query().Get("token")
}
