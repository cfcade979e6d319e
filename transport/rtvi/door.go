package rtvi

import (
	"net/http"
	"strings"
	"time"

	"github.com/voicegw/voicegw/transport/wsdoor"
)

// Name is the door in Hello.Door.
const Name = "rtvi"

// Lead is how much of a reply is sent ahead of what was heard: what an interruption cannot take back.
const Lead = 100 * time.Millisecond

// Config is how the door behaves.
type Config = wsdoor.Config

// Door is an http.Handler that takes calls of RTVI clients. It must be closed.
type Door = wsdoor.Door

// New makes a door for cfg.Lines. Mount it on any path.
func New(cfg Config) (*Door, error) {
	return wsdoor.New(cfg, wsdoor.Protocol{
		Name:   Name,
		Binary: true,
		Lead:   Lead,
		Token:  token,
		Codec:  func(*http.Request) wsdoor.Codec { return &codec{} },
	})
}

// token is what the client was given as its token, in the only place where it can put it, or a bearer's.
func token(r *http.Request) string {
	if kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(key)
	}
	return r.URL.Query().Get("token")
}
