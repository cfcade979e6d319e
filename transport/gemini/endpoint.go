package gemini

import (
	"net/http"
	"regexp"
	"strings"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport/wsendpoint"
)

// Name is the endpoint's name in Hello.Endpoint.
const Name = "gemini"

// noCall refuses a handle. It fits into a close frame.
const noCall = "setup.sessionResumption.handle: there is no call to go on with by this handle and key. " +
	"Connect without one."

// Config configures the endpoint.
type Config = wsendpoint.Config

// Endpoint is an http.Handler that takes calls of Gemini Live clients. It must be closed.
type Endpoint = wsendpoint.Endpoint

// New makes an endpoint for cfg.Lines. Mount it on any paths: it ignores them.
func New(cfg Config) (*Endpoint, error) {
	log := cfg.Log
	if log == nil {
		log = zap.NewNop()
	}
	return wsendpoint.New(cfg, wsendpoint.Protocol{
		Name:   Name,
		Token:  token,
		NoCall: noCall,
		Codec:  func(r *http.Request) wsendpoint.Codec { return newCodec(r, log) },
	})
}

// Serves reports whether a path is one of the service's, with any prefix, any number of slashes and
// any version: clients append two slashes to a base URL, and each has its own version (v1, v1beta,
// v1alpha, v1beta1).
func Serves(path string) bool {
	const version = `\.v\d+((alpha|beta)\d*)?\.`
	const pattern = `/ws/+google\.(ai\.generativelanguage` + version + `GenerativeService\.BidiGenerateContent` +
		`(Constrained)?|cloud\.aiplatform` + version + `LlmBidiService/+BidiGenerateContent)$`
	return strings.Contains(path, "BidiGenerateContent") && regexp.MustCompile(pattern).MatchString(path)
}

// token returns the client's key, wherever the client puts it.
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
