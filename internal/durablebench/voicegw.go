package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
	"github.com/voicegw/voicegw/journal/postgres"
)

// voicegw is a runtime of this process behind its HTTP API. Its client sends messages and reads streams of events over
// the loopback interface.
type voicegw struct {
	tool     *tool
	database *database // or nil: the journal is in JetStream

	dir     string
	journal journal.Engine
	runtime *managed.Runtime
	server  *http.Server
	served  chan error
	url     string

	mu      sync.Mutex
	agent   string
	streams map[string]*stream
}

var owner = managed.Owner{Tenant: "bench"}

func (v *voicegw) open(ctx context.Context, dir string) error {
	v.dir, v.streams = filepath.Join(dir, "journal"), map[string]*stream{}
	var err error
	if v.database == nil {
		v.journal, err = jetstream.Open(ctx, jetstream.Config{Dir: v.dir})
	} else if err = v.database.start(ctx, v.dir); err == nil {
		v.journal, err = postgres.Open(ctx, postgres.Config{URL: v.database.url("postgres")})
	}
	if err != nil {
		return err
	}
	script := &provider.Script{Repeat: true, Turns: []provider.ScriptTurn{
		{Calls: []provider.ScriptCall{{Name: toolName, Args: toolArgs()}}}, {Text: booked}}}
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) { return honest{script}, nil })
	v.runtime, err = managed.New(managed.Config{Journal: v.journal, Models: models, Node: "bench",
		Tools: []managed.Tool{{Declaration: &genai.FunctionDeclaration{Name: toolName, Description: "Books a table."},
			Call: func(ctx context.Context, _ managed.ToolCall) (map[string]any, error) { return v.tool.call(ctx) }}}})
	if err != nil {
		return err
	}
	if _, err := v.runtime.Recover(ctx); err != nil {
		return err
	}
	return v.serve()
}

// serve starts the API.
func (v *voicegw) serve() error {
	handler, err := api.New(api.Config{Runtime: v.runtime,
		Authorize: func(*http.Request, string) (managed.Owner, error) { return owner, nil }})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	v.url = "http://" + listener.Addr().String() + "/v1/sessions/"
	v.server, v.served = &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}, make(chan error, 1)
	go func() { v.served <- v.server.Serve(listener) }()
	return nil
}

// durable takes the word of the engine: JetStream opens its files with O_SYNC. The counting of syncs shows it.
func (v *voicegw) durable(ctx context.Context) (string, error) {
	if v.database != nil {
		return v.database.durable(ctx)
	}
	if d := v.journal.Durability(); d != journal.PowerLoss {
		return "", fmt.Errorf("the journal survives only %v", d)
	}
	return "JetStream SyncAlways", nil
}

func (v *voicegw) begin(ctx context.Context) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.agent == "" {
		a, err := v.runtime.CreateAgent(ctx, owner, managed.Definition{Name: "desk", Model: managed.ModelRef{ID: "script"},
			Tools: []managed.ToolConfig{{Type: managed.AgentToolset}}})
		if err != nil {
			return "", err
		}
		v.agent = a.ID
	}
	s, err := v.runtime.StartSession(ctx, owner, managed.SessionRequest{Agent: v.agent})
	if err != nil {
		return "", err
	}
	v.streams[s.ID], err = v.listen(ctx, s.ID)
	return s.ID, err
}

func (v *voicegw) turn(ctx context.Context, session, id, text string) (string, error) {
	body, err := json.Marshal(map[string]any{"events": []managed.Event{managed.Text(text)}})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.url+session+"/events", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", id)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	told, err := io.ReadAll(answer.Body)
	if err != nil {
		return "", err
	}
	if answer.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the message is refused: %s: %.300s", answer.Status, told)
	}
	v.mu.Lock()
	s := v.streams[session]
	v.mu.Unlock()
	return s.idle(ctx)
}

func (v *voicegw) resume(ctx context.Context, session, _ string, n int) (string, error) {
	s, err := v.listen(ctx, session)
	if err != nil {
		return "", err
	}
	defer s.close()
	for range n {
		if _, err := s.idle(ctx); err != nil {
			return "", err
		}
	}
	return s.idle(ctx)
}

func (v *voicegw) stored(ctx context.Context) (int64, error) {
	if v.database != nil {
		return v.database.stored(ctx)
	}
	return size(v.dir)
}

func (v *voicegw) servers() []int { return v.database.servers() }

func (v *voicegw) close() {
	for _, s := range v.streams {
		s.close()
	}
	if v.server != nil {
		_ = v.server.Close()
		<-v.served
	}
	if v.runtime != nil {
		_ = v.runtime.Close(context.Background())
	}
	if v.journal != nil {
		_ = v.journal.Close()
	}
	v.database.stop()
}

// honest is a script that says so when nobody knows what the tool has done.
type honest struct{ *provider.Script }

func (h honest) GenerateContent(ctx context.Context, r *model.LLMRequest, stream bool,
) iter.Seq2[*model.LLMResponse, error] {
	last := r.Contents[len(r.Contents)-1]
	for _, p := range last.Parts {
		if p.FunctionResponse != nil && p.FunctionResponse.Response["error"] != nil {
			return (&provider.Script{Repeat: true, Turns: []provider.ScriptTurn{{Text: unknown}}}).GenerateContent(ctx, r,
				stream)
		}
	}
	return h.Script.GenerateContent(ctx, r, stream)
}

// stream is a stream of the events of a session.
type stream struct {
	body  io.ReadCloser
	turns chan string // the answers of turns that have ended
	err   error       // why it ended, once turns is closed
}

// listen reads all events of a session.
func (v *voicegw) listen(ctx context.Context, session string) (*stream, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, v.url+session+"/events/stream?from_seq=1", nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the stream is refused: %s", answer.Status)
	}
	s := &stream{body: answer.Body, turns: make(chan string, 1)}
	go s.read()
	return s, nil
}

// read runs until the stream is closed.
func (s *stream) read() {
	defer close(s.turns)
	lines := bufio.NewScanner(s.body)
	lines.Buffer(nil, 1<<20)
	answer := ""
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		ev := managed.Event{}
		if s.err = json.Unmarshal([]byte(data), &ev); s.err != nil {
			return
		}
		switch ev.Type {
		case managed.AgentMessage:
			answer = ev.Content[0].Text
		case managed.StatusIdle:
			s.turns <- answer
		}
	}
	s.err = lines.Err()
}

// idle waits for the end of a turn.
func (s *stream) idle(ctx context.Context) (string, error) {
	select {
	case answer, ok := <-s.turns:
		if !ok {
			return "", fmt.Errorf("the stream has ended: %w", s.err)
		}
		return answer, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (s *stream) close() { _ = s.body.Close() }
