// Package wiretest has fake servers of providers of models. Each speaks the wire format of one provider,
// whole and streamed, refuses what the real one refuses, and has the faults that real ones have.
//
//	s := wiretest.New(wiretest.Anthropic, wiretest.Turn{Text: "Good morning."})
//	http.Serve(listener, s)
//
// A Turn says what the model answers, in words that no provider uses; the server writes it in its own.
package wiretest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The wire formats.
const (
	Gemini     = "gemini"
	OpenAI     = "openai"
	Compatible = "openai_compatible"
	Anthropic  = "anthropic"
	Ollama     = "ollama"
)

// Key is the key that the servers take.
const Key = "key-of-the-fake-servers"

// Turn is the answer to one request.
type Turn struct {
	Thought   string // what the model thinks first
	Signature string // of the thought
	Text      string // streamed word by word
	Refusal   string // in place of Text where the wire has a field for it
	Calls     []Call
	Stop      Stop
	Usage     Usage
	Fault     Fault
	Status    int         // an HTTP status in place of an answer
	Message   string      // the error's message, in place of the usual one
	Header    http.Header // of the response
}

// Call is one call of a tool.
type Call struct {
	ID, Name string
	Args     string // JSON; streamed in two pieces
}

// Stop says why the answer ends.
type Stop string

// The reasons.
const (
	Done      Stop = ""
	MaxTokens Stop = "max tokens"
	Filtered  Stop = "filtered" // refused, or stopped by a filter
)

// Usage counts tokens. Thoughts are part of Output; Read and Written, of a cache, are part of Prompt.
type Usage struct{ Prompt, Output, Thoughts, Read, Written int }

// Fault is what goes wrong.
type Fault string

// The faults.
const (
	Cut        Fault = "cut"         // the connection breaks in the middle
	CutFirst   Fault = "cut first"   // it breaks before the response
	Unended    Fault = "unended"     // the end is missing, but the connection closes well
	ErrorEvent Fault = "error event" // an error in the middle of a stream
	Broken     Fault = "broken"      // JSON that cannot be read
	Unknown    Fault = "unknown"     // events, fields and blocks of types that nobody knows
	Huge       Fault = "huge"        // a line of 128 KiB in a stream, a body of 512 KiB without
	Silent     Fault = "silent"      // no first byte
	Stalled    Fault = "stalled"     // silence in the middle
	BrokenArgs Fault = "broken args" // the arguments of the last call are cut off
)

// Request is what a server got.
type Request struct {
	Path   string
	Header http.Header
	Body   map[string]any
	Stream bool
}

// dialect is one wire format.
type dialect struct {
	authorized func(http.Header) bool
	// check says why a request is refused; "" if it is not.
	check  func(r *Request) string
	path   func(path string) bool
	stream func(r *Request) bool
	whole  func(model string, t *Turn) any
	frames func(model string, t *Turn) []any // of a stream
	fault  func(status int, message string) any
	event  func(message string) any // an error in a stream
	alien  []any                    // frames of unknown types
	write  func(w io.Writer, frame any)
	kind   string // the content type of a stream
}

func dialects() map[string]dialect {
	return map[string]dialect{Gemini: gemini(), OpenAI: responses(), Compatible: chat(), Anthropic: anthropic(),
		Ollama: ollama()}
}

// Server is a fake server. It answers each request with the next turn, and the last turn from then on.
type Server struct {
	dialect dialect
	mu      sync.Mutex
	turns   []Turn
	got     []*Request
}

// New returns a server of a wire format.
func New(wire string, turns ...Turn) *Server {
	return &Server{dialect: dialects()[wire], turns: turns}
}

// Requests returns the requests so far, refused ones too.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.got...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, t, refusal := s.take(r)
	if refusal != nil {
		t = refusal
	}
	for name, values := range t.Header {
		w.Header()[name] = values
	}
	w.Header().Set("X-Request-Id", "req_1")
	switch {
	case t.Fault == CutFirst:
		panic(http.ErrAbortHandler)
	case t.Fault == Silent:
		wait(r)
	case t.Status != 0:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(t.Status)
		writeJSON(w, s.dialect.fault(t.Status, or(t.Message, "it says no")))
	case req.Stream:
		s.serveStream(w, r, req, t)
	default:
		s.serveWhole(w, r, req, t)
	}
}

// take reads a request, and finds its turn or the reason to refuse it.
func (s *Server) take(r *http.Request) (req *Request, t, refusal *Turn) {
	body, err := io.ReadAll(r.Body)
	req = &Request{Path: r.URL.Path, Header: r.Header.Clone()}
	if err == nil {
		err = json.Unmarshal(body, &req.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, req)
	turn := s.turns[min(len(s.got), len(s.turns))-1]
	d := s.dialect
	switch {
	case !d.path(r.URL.Path) || r.Method != http.MethodPost:
		return req, &turn, &Turn{Status: http.StatusNotFound, Message: "there is nothing at " + r.URL.Path}
	case !d.authorized(r.Header):
		return req, &turn, &Turn{Status: http.StatusUnauthorized, Message: fmt.Sprintf("wrong key: %q", r.Header)}
	case err != nil:
		return req, &turn, &Turn{Status: http.StatusBadRequest, Message: err.Error()}
	}
	req.Stream = d.stream(req)
	if why := d.check(req); why != "" {
		return req, &turn, &Turn{Status: http.StatusBadRequest, Message: why}
	}
	return req, &turn, nil
}

// wait waits for the client to leave.
func wait(r *http.Request) { <-r.Context().Done() }

func (s *Server) serveWhole(w http.ResponseWriter, r *http.Request, req *Request, t *Turn) {
	w.Header().Set("Content-Type", "application/json")
	var b strings.Builder
	writeJSON(&b, s.dialect.whole(modelOf(req), t))
	body := b.String()
	switch t.Fault {
	case Broken:
		body = body[:len(body)/2]
	case Huge:
		body = body[:1] + strings.Repeat(" ", 512<<10) + body[1:]
	case Cut, Stalled:
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		io.WriteString(w, body[:len(body)/2])
		http.NewResponseController(w).Flush()
		if t.Fault == Cut {
			panic(http.ErrAbortHandler)
		}
		wait(r)
	}
	io.WriteString(w, body)
}

func (s *Server) serveStream(w http.ResponseWriter, r *http.Request, req *Request, t *Turn) {
	d := s.dialect
	w.Header().Set("Content-Type", d.kind)
	out := http.NewResponseController(w)
	frames := d.frames(modelOf(req), t)
	half := len(frames) / 2
	for i, f := range frames {
		if i == half {
			switch t.Fault {
			case Cut:
				out.Flush()
				panic(http.ErrAbortHandler)
			case Stalled:
				out.Flush()
				wait(r)
				return
			case ErrorEvent:
				d.write(w, d.event(or(t.Message, "it failed in the middle")))
				return
			case Broken:
				d.write(w, raw(`{"half":`))
			case Huge:
				d.write(w, raw(`{"x":"`+strings.Repeat("x", 128<<10)+`"}`))
			case Unknown:
				for _, f := range d.alien {
					d.write(w, f)
				}
			}
		}
		d.write(w, f)
		out.Flush()
	}
}

// raw is a frame that is written as it is.
type raw string

func writeJSON(w io.Writer, v any) {
	if text, ok := v.(raw); ok {
		io.WriteString(w, string(text))
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Write(b)
}

// sse writes a frame as an event without a name.
func sse(w io.Writer, frame any) {
	io.WriteString(w, "data: ")
	writeJSON(w, frame)
	io.WriteString(w, "\n\n")
}

// named writes a frame as an event that is named after its type, and comments as they are.
func named(w io.Writer, frame any) {
	if text, ok := frame.(raw); ok && strings.HasPrefix(string(text), ":") {
		io.WriteString(w, string(text)+"\n\n")
		return
	}
	if m, ok := frame.(obj); ok {
		fmt.Fprintf(w, "event: %v\r\n", m["type"])
	}
	sse(w, frame)
}

type (
	obj  = map[string]any
	list = []any
)

func or(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// modelOf is the model that a request asks for.
func modelOf(r *Request) string {
	if name, ok := r.Body["model"].(string); ok {
		return name
	}
	_, name, _ := strings.Cut(r.Path, "/models/")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// words are the pieces of a text in a stream.
func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(s, " ")
}

// pieces are the arguments of a call in a stream.
func pieces(args string) []string { return []string{args[:len(args)/2], args[len(args)/2:]} }

// args are the arguments of a call, without their end if they are to be broken.
func (t *Turn) args(i int) string {
	c := t.Calls[i]
	if t.Fault == BrokenArgs && i == len(t.Calls)-1 {
		return c.Args[:len(c.Args)-2]
	}
	return c.Args
}

// text is what the wire carries as words if it has no field for refusals.
func (t *Turn) text() string { return t.Text + t.Refusal }

// bearer tells whether a key was sent as most providers want it.
func bearer(h http.Header) bool { return h.Get("Authorization") == "Bearer "+Key }

// RetryAfter is a header that asks to wait.
func RetryAfter(d time.Duration) http.Header {
	return http.Header{"Retry-After": {fmt.Sprint(int(d.Seconds()))}}
}
