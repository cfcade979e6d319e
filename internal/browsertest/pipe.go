package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
)

// pipe is the connection to a browser: commands and events of the Chrome DevTools Protocol as JSON,
// a zero byte behind each (--remote-debugging-pipe). The browser ends when it breaks, so none
// outlives its test. Safe for concurrent use.
type pipe struct {
	in, out *os.File
	over    chan struct{} // closed when the browser says nothing more

	mu       sync.Mutex
	last     int                    // id of a command
	waiting  map[int]chan<- message // for the answer
	sessions map[string]func(method string, params json.RawMessage)
}

// message is a command, its answer, or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
		Data    string `json:"data"`
	} `json:"error,omitempty"`
}

var errOver = errors.New("the browser has ended")

func newPipe(in, out *os.File) *pipe {
	return &pipe{in: in, out: out, over: make(chan struct{}), waiting: map[int]chan<- message{},
		sessions: map[string]func(string, json.RawMessage){}}
}

// read hands on what the browser says until it ends. One goroutine calls it.
func (p *pipe) read() {
	defer close(p.over)
	r := bufio.NewReader(p.out)
	for {
		b, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(b[:len(b)-1], &m) == nil {
			p.take(m)
		}
	}
}

func (p *pipe) take(m message) {
	p.mu.Lock()
	answer, handle := p.waiting[m.ID], p.sessions[m.Session]
	delete(p.waiting, m.ID)
	p.mu.Unlock()
	switch {
	case answer != nil:
		answer <- m
	case m.Method != "" && handle != nil:
		handle(m.Method, m.Params)
	}
}

// listen hands the events of a session to handle, which must not wait for an answer. nil: to
// nobody.
func (p *pipe) listen(session string, handle func(method string, params json.RawMessage)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if handle == nil {
		delete(p.sessions, session)
		return
	}
	p.sessions[session] = handle
}

// call sends a command to a session, "" for the browser, and stores the answer in result, which may
// be nil.
func (p *pipe) call(ctx context.Context, session, method string, params, result any) error {
	raw := json.RawMessage("{}")
	if params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	answer := make(chan message, 1)
	if err := p.send(message{Session: session, Method: method, Params: raw}, answer); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s %s", method, m.Error.Message, m.Error.Data)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, ctx.Err())
	case <-p.over:
		return fmt.Errorf("%s: %w", method, errOver)
	}
}

// send numbers a command and writes it.
func (p *pipe) send(m message, answer chan<- message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	m.ID = p.last
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	p.waiting[m.ID] = answer
	_, err = p.in.Write(append(b, 0))
	return err
}

// close breaks the connection and waits for read, which must have been called.
func (p *pipe) close() {
	_, _ = p.in.Close(), p.out.Close()
	<-p.over
}
