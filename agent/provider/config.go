package provider

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/internal/foreign"
)

// The providers that need a network.
const (
	Gemini     = "gemini"            // Google's Gemini API
	OpenAI     = "openai"            // OpenAI's Responses API
	Compatible = "openai_compatible" // Chat Completions, which many servers speak: vLLM, DeepSeek, Mistral
	Anthropic  = "anthropic"         // Anthropic's Messages API
	Ollama     = "ollama"            // Ollama's own API
)

// Config configures the models that need a network. Its zero value knows no key.
type Config struct {
	// Lookup returns the value of a variable, such as os.Getenv does; nil means that none is set.
	// Providers() lists the variables.
	Lookup func(name string) string
	// Keys are keys by provider. They come before those of Lookup.
	Keys map[string]string
	// BaseURLs are addresses by provider. They come before those of Lookup.
	BaseURLs map[string]string
	// Default is the model of an empty Ref. If it is empty, it is the first provider that has a key, and
	// the parrot if none has.
	Default Ref
	// Allow decides about a Ref with a base URL or a key of its own, which may come from somebody who
	// must not learn the keys of others. Nil refuses each.
	Allow func(Ref) error
	// Client sends the requests; nil means a client with http.DefaultTransport. Redirects are refused. Its
	// Timeout limits an attempt.
	Client *http.Client
	Retry  Retry
	Limits Limits
}

// Retry bounds the attempts of one request. An attempt is repeated only if nothing of its response was
// handed over.
type Retry struct {
	Attempts int           // at most so many; default 4
	Total    time.Duration // no attempt starts later than this after the first; default 2 min
	First    time.Duration // the wait after the first attempt, doubled each time; default 500 ms
	// Wait is the longest wait between two attempts, default 20 s. If the provider asks for more, the
	// request fails.
	Wait time.Duration
	// Jitter returns 0 to 1: the share of half a wait that is left out, so that many clients do not
	// return at once. Nil means none. It must be safe for concurrent use.
	Jitter func() float64
}

// Limits bound one response.
type Limits struct {
	FirstByte time.Duration // silence before the first byte of a response; default 1 min
	Idle      time.Duration // silence within a response; default 1 min
	Attempt   time.Duration // a whole response; default 10 min
	Line      int           // bytes of a line of a stream; default 1 MiB
	Total     int           // bytes of a response; default 32 MiB
}

// Info describes a provider that needs a network.
type Info struct {
	Name         string
	KeyVariables []string // the variables that may hold its key
	URLVariables []string // the variables that may hold its address
	BaseURL      string   // its usual address; "" if it has none
	Model        string   // the model of a Ref that names none; "" if it must name one
	NeedsKey     bool
}

// Providers returns the providers that need a network, in the order in which an empty Ref looks for a
// key.
func Providers() []Info {
	return []Info{
		{Gemini, []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, []string{"GOOGLE_GEMINI_BASE_URL"},
			"https://generativelanguage.googleapis.com", "gemini-flash-latest", true},
		{OpenAI, []string{"OPENAI_API_KEY"}, []string{"OPENAI_BASE_URL"}, "https://api.openai.com/v1", "gpt-5-mini", true},
		{Anthropic, []string{"ANTHROPIC_API_KEY"}, []string{"ANTHROPIC_BASE_URL"}, "https://api.anthropic.com",
			"claude-sonnet-5", true},
		{Compatible, []string{"OPENAI_COMPATIBLE_API_KEY"}, []string{"OPENAI_COMPATIBLE_BASE_URL"}, "", "", false},
		{Ollama, []string{"OLLAMA_API_KEY"}, []string{"OLLAMA_HOST"}, "http://127.0.0.1:11434", "llama3.2", false},
	}
}

// Resolver returns a Resolver of all models. It refuses a BaseURL that is none.
func (c Config) Resolver() (*Resolver, error) {
	c.Retry, c.Limits = c.Retry.filled(), c.Limits.filled()
	if c.Lookup == nil {
		c.Lookup = func(string) string { return "" }
	}
	r := NewResolver()
	r.fallback = c.fallback()
	for _, info := range Providers() {
		if base := c.BaseURLs[info.Name]; base != "" {
			if _, err := info.baseURL(base); err != nil {
				return nil, fmt.Errorf("provider: the address of %s: %w", info.Name, err)
			}
		}
		r.Add(info.Name, func(ref Ref) (model.LLM, error) { return c.connect(info, ref) })
	}
	return r, nil
}

// fallback is the model of an empty Ref.
func (c *Config) fallback() Ref {
	if c.Default != (Ref{}) {
		return c.Default
	}
	for _, info := range Providers() {
		if info.NeedsKey && c.key(info) != "" {
			return Ref{Provider: info.Name}
		}
	}
	return Ref{Provider: "parrot"}
}

func (c *Config) key(info Info) string {
	return firstOf(c.Keys[info.Name], c.lookup(info.KeyVariables))
}

// lookup returns the value of the first variable that is set.
func (c *Config) lookup(names []string) string {
	for _, name := range names {
		if v := c.Lookup(name); v != "" {
			return v
		}
	}
	return ""
}

// connect returns a model of a provider. It does not use the network.
func (c *Config) connect(info Info, ref Ref) (model.LLM, error) {
	key := c.key(info)
	base := firstOf(c.BaseURLs[info.Name], c.lookup(info.URLVariables), info.BaseURL)
	if ref.BaseURL != "" || ref.KeyName != "" {
		if c.Allow == nil {
			return nil, fmt.Errorf("a base_url or an api_key_name of its own is not allowed; Config.Allow decides about them")
		}
		if err := c.Allow(ref); err != nil {
			return nil, err
		}
		base = firstOf(ref.BaseURL, base)
		if key = ""; ref.KeyName != "" { // a key is sent only to the address that it is for
			if key = c.Lookup(ref.KeyName); key == "" {
				return nil, fmt.Errorf("the variable %s, which holds the key, is not set", ref.KeyName)
			}
		}
	}
	switch {
	case base == "":
		return nil, fmt.Errorf("it has no address; set %s", info.URLVariables[0])
	case key == "" && info.NeedsKey:
		return nil, fmt.Errorf("%w; set %s", ErrNoKey, strings.Join(info.KeyVariables, " or "))
	}
	if info.Name == Ollama && !strings.Contains(base, ":") {
		base += ":11434" // as OLLAMA_HOST has it
	}
	at, err := info.baseURL(base)
	if err != nil {
		return nil, err
	}
	name := firstOf(ref.Model, info.Model)
	if name == "" {
		return nil, fmt.Errorf("it needs the name of a model: %s/MODEL", info.Name)
	}
	l := &link{provider: info.Name, model: name, base: at, key: key, retry: c.Retry, limits: c.Limits,
		clean: foreign.NewCleaner(key)}
	l.guard(c.Client)
	if info.Name == Gemini {
		return newGemini(l)
	}
	return &client{link: l, wire: wires()[info.Name]}, nil
}

// baseURL checks an address and returns it without a slash at its end. Only that of Ollama may lack a
// scheme, as in OLLAMA_HOST, and is then reached over HTTP: keys of others must not leave in the clear by
// mistake.
func (i Info) baseURL(text string) (string, error) {
	if i.Name == Ollama && !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return "", fmt.Errorf("%q is no address; write it as https://HOST/PATH, without a key",
			foreign.Cut(withoutKey(text), 100))
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// withoutKey leaves out the parts of an address that may hold a key: the user and the query.
func withoutKey(text string) string {
	if i := strings.LastIndex(text, "@"); i >= 0 {
		text = "...@" + text[i+1:]
	}
	text, _, _ = strings.Cut(text, "?")
	return text
}

func (r Retry) filled() Retry {
	r.Attempts = orElse(r.Attempts, 4)
	r.Total = orElse(r.Total, 2*time.Minute)
	r.First = orElse(r.First, 500*time.Millisecond)
	r.Wait = orElse(r.Wait, 20*time.Second)
	return r
}

func (l Limits) filled() Limits {
	l.FirstByte = orElse(l.FirstByte, time.Minute)
	l.Idle = orElse(l.Idle, time.Minute)
	l.Attempt = orElse(l.Attempt, 10*time.Minute)
	l.Line = orElse(l.Line, 1<<20)
	l.Total = orElse(l.Total, 32<<20)
	return l
}

// orElse returns v, or the default if v is not positive.
func orElse[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}
