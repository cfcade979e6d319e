package live

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"cloud.google.com/go/auth/credentials"
)

const (
	vertexPath      = "/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent"
	vertexScope     = "https://www.googleapis.com/auth/cloud-platform"
	constrainedPath = "/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateContentConstrained"
	ephemeralPrefix = "auth_tokens/"
)

// TokenSource returns an OAuth access token. Each dial calls it once, with the context of the dial.
// It must be safe for concurrent use, and may cache a token until it expires.
type TokenSource func(ctx context.Context) (string, error)

// Vertex selects Vertex AI in place of the Gemini API.
type Vertex struct {
	// Project and Location name the project and the region, such as "my-project" and "europe-west4"
	// or "global". Set both or neither. Without them, Wire.BaseURL must be a proxy that knows them;
	// Dial then uses its path unchanged.
	Project, Location string
	// Token returns access tokens. With a project, the default looks for the application default
	// credentials at each dial; DefaultToken looks once. Without a project, the default sends no
	// token.
	Token TokenSource
}

// DefaultToken looks for the application default credentials
// (https://cloud.google.com/docs/authentication). The source that it returns keeps each token until
// shortly before it expires.
func DefaultToken() (TokenSource, error) {
	found, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{vertexScope}})
	if err != nil {
		return nil, fmt.Errorf("live: find default credentials: %w", err)
	}
	return func(ctx context.Context) (string, error) {
		token, err := found.Token(ctx)
		if err != nil {
			return "", fmt.Errorf("live: get access token: %w", err)
		}
		return token.Value, nil
	}, nil
}

// check returns an error for an incomplete project, or a name that would lead to another host or
// path.
func (v *Vertex) check(w *Wire) error {
	switch {
	case v == nil:
		return nil
	case w.APIKey != "":
		return &SetupError{"Wire.APIKey", "hidden", "none with Vertex, which uses access tokens"}
	case (v.Project == "") != (v.Location == ""):
		return fieldError("Vertex.Project", v.Project+"/"+v.Location, "both Project and Location, or neither")
	case v.Project == "" && w.BaseURL == "":
		return &SetupError{"Vertex.Project", "empty", "a project and a location, or a BaseURL that knows them"}
	}
	return checkPatterns([]pattern{
		{"Vertex.Project", v.Project, `^[a-z0-9][a-z0-9.:-]{0,62}$`, `a project such as "my-project"`},
		{"Vertex.Location", v.Location, `^[a-z][a-z0-9-]{0,30}$`, `a location such as "europe-west4" or "global"`},
	})
}

// base returns the base URL of a location.
func (v *Vertex) base() string {
	switch v.Location {
	case "global":
		return "wss://aiplatform.googleapis.com"
	case "us", "eu":
		return "wss://aiplatform." + v.Location + ".rep.googleapis.com"
	}
	return "wss://" + v.Location + "-aiplatform.googleapis.com"
}

// path returns the path after the base URL.
func (w *Wire) path() string {
	switch {
	case w.Vertex != nil && w.Vertex.Project == "":
		return ""
	case w.Vertex != nil:
		return vertexPath
	case w.ephemeral():
		return constrainedPath
	}
	return livePath
}

// ephemeral reports whether the key is an ephemeral token.
func (w *Wire) ephemeral() bool { return strings.HasPrefix(w.APIKey, ephemeralPrefix) }

// secretive reports whether the dial sends a key or a token.
func (w *Wire) secretive() bool {
	return w.APIKey != "" || w.Vertex != nil && (w.Vertex.Token != nil || w.Vertex.Project != "")
}

// fullModel returns the name of a model on the wire.
func (w *Wire) fullModel(name string) string {
	full := "models/" + strings.TrimPrefix(name, "models/")
	switch {
	case w.Vertex == nil:
		return full
	case w.Vertex.Project == "":
		return "publishers/google/" + full
	}
	return "projects/" + w.Vertex.Project + "/locations/" + w.Vertex.Location + "/publishers/google/" + full
}

// token returns the access token for Vertex AI, "" if none is needed.
func (w *Wire) token(ctx context.Context) (string, error) {
	if w.Vertex == nil || !w.secretive() {
		return "", nil
	}
	source := w.Vertex.Token
	if source == nil {
		var err error
		if source, err = DefaultToken(); err != nil {
			return "", err
		}
	}
	token, err := source(ctx)
	if err == nil {
		err = printable(token)
	}
	return token, err
}

// printable returns an error for a secret that a header cannot hold. The error does not show it.
func printable(secret string) error {
	for i, c := range secret {
		if c <= ' ' || c > '~' {
			return fmt.Errorf("a space or an unprintable character at byte %d", i)
		}
	}
	return nil
}

// header returns the header with the key or the token, which goes nowhere else.
func (w *Wire) header(token string) http.Header {
	h := http.Header{}
	switch {
	case token != "":
		h.Set("Authorization", "Bearer "+token)
	case w.ephemeral():
		h.Set("Authorization", "Token "+w.APIKey)
	case w.APIKey != "":
		h.Set("X-Goog-Api-Key", w.APIKey)
	}
	return h
}
