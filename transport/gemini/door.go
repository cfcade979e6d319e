package gemini

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/voicegw/voicegw/transport/wsdoor"
)

// Name is the door in Hello.Door.
const Name = "gemini"

// Config is how the door behaves.
type Config = wsdoor.Config

// Door is an http.Handler that takes calls of Gemini Live clients. It must be closed.
type Door = wsdoor.Door

// New makes a door for cfg.Lines. Mount it on whatever paths: it does not look at them.
func New(cfg Config) (*Door, error) {
	return wsdoor.New(cfg, wsdoor.Protocol{
		Name:  Name,
		Token: token,
		Codec: func(r *http.Request) wsdoor.Codec { return newCodec(r) },
	})
}

// Serves reports whether a path is one of the service's, with any prefix and with any number of slashes: clients put
// two of them behind a base URL.
func Serves(path string) bool {
	const pattern = `/ws/+google\.(ai\.generativelanguage\.v1(alpha|beta)\.GenerativeService\.BidiGenerateContent` +
		`(Constrained)?|cloud\.aiplatform\.v1(beta1)?\.LlmBidiService/+BidiGenerateContent)$`
	return strings.Contains(path, "BidiGenerateContent") && regexp.MustCompile(pattern).MatchString(path)
}

// token is the client's key, wherever its kind of client puts it.
func token(r *http.Request) string {
	if key := r.Header.Get("X-Goog-Api-Key"); key != "" {
		return key
	}
	if kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " "); key != "" &&
		(strings.EqualFold(kind, "Bearer") || strings.EqualFold(kind, "Token")) {
		return strings.TrimSpace(key)
	}
	query := r.URL.Query()
	if key := query.Get("key"); key != "" {
		return key
	}
	return query.Get("access_token")
}
