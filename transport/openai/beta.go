package openai

import (
	"net/http"
	"slices"
	"strings"
)

// What a client of the beta asks for: a header, or a subprotocol where it cannot send one.
const (
	betaHeader      = "OpenAI-Beta"
	betaVersion     = "realtime=v1"
	betaSubprotocol = "openai-beta.realtime-v1"
)

// wantsBeta reports whether a client speaks the beta of the API.
func wantsBeta(r *http.Request) bool {
	has := func(header, want string) bool {
		return slices.ContainsFunc(r.Header.Values(header), func(line string) bool {
			return slices.ContainsFunc(strings.Split(line, ","), func(s string) bool {
				return strings.EqualFold(strings.TrimSpace(s), want)
			})
		})
	}
	return has(betaHeader, betaVersion) || has("Sec-WebSocket-Protocol", betaSubprotocol)
}

// betaEvent returns the beta's name of an event, and reports false for an event that the beta does
// not have.
func betaEvent(kind string) (string, bool) {
	switch kind {
	case "conversation.item.added":
		return "conversation.item.created", true
	case "conversation.item.done":
		return "", false
	}
	for _, was := range [...]string{"audio_transcript", "audio", "text"} {
		if rest, ok := strings.CutPrefix(kind, "response.output_"+was+"."); ok {
			return "response." + was + "." + rest, true
		}
	}
	return kind, true
}
