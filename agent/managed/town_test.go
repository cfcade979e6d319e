package managed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/adk/v2/model"

	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/journaltest"
)

// line is the connection of a process to the journal. It can be cut: then every request fails, as if the process were
// dead. It can be slow: then requests wait until it heals or they are given up. What a writer stores may go on.
type line struct {
	journal.Engine
	mu     sync.Mutex
	left   int           // requests until it is cut; -1: it is whole
	slow   chan struct{} // closed when it heals; nil: it is not slow
	part   string        // beginning of the documents for which it is slow; "": all requests
	listed []string      // prefixes of lists
	broken string        // beginning of the keys for which requests fail as if there were an election; "": none
	delay  time.Duration // of each request
	deaf   bool          // readers fail
	hangUp func()        // ends the last reader
}

var errCut = errors.New("the process is dead")

func (l *line) cut() { l.cutAfter(0) }

func (l *line) cutAfter(requests int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = requests
}

// slowDown makes requests for documents wait whose keys begin with part; "" means all requests. heal ends that.
func (l *line) slowDown(part string) (heal func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	slow := make(chan struct{})
	l.slow, l.part = slow, part
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.slow = nil
		close(slow)
	}
}

// fail makes requests fail whose keys begin with a prefix; "" ends that.
func (l *line) fail(prefix string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = prefix
}

// delayBy makes every request take that much longer.
func (l *line) delayBy(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.delay = d
}

// pass waits, or fails.
func (l *line) pass(ctx context.Context, key string) error {
	l.mu.Lock()
	slow := l.slow
	if !strings.HasPrefix(key, l.part) {
		slow = nil
	}
	dead := l.left == 0
	if l.left > 0 {
		l.left--
	}
	broken := l.broken != "" && strings.HasPrefix(key, l.broken)
	delay := l.delay
	l.mu.Unlock()
	time.Sleep(delay)
	if dead {
		return errCut
	}
	if broken {
		return fmt.Errorf("%w: an election", journal.ErrStore)
	}
	if slow != nil {
		select {
		case <-slow:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (l *line) Get(ctx context.Context, key string) (journal.Doc, error) {
	if err := l.pass(ctx, key); err != nil {
		return journal.Doc{}, err
	}
	return l.Engine.Get(ctx, key)
}

func (l *line) Put(ctx context.Context, key string, value []byte, expect uint64) (uint64, error) {
	if err := l.pass(ctx, key); err != nil {
		return 0, err
	}
	return l.Engine.Put(ctx, key, value, expect)
}

func (l *line) Remove(ctx context.Context, key string, expect uint64) error {
	if err := l.pass(ctx, key); err != nil {
		return err
	}
	return l.Engine.Remove(ctx, key, expect)
}

func (l *line) List(ctx context.Context, q journal.Query) ([]journal.Doc, error) {
	if err := l.pass(ctx, q.Prefix); err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.listed = append(l.listed, q.Prefix)
	l.mu.Unlock()
	return l.Engine.List(ctx, q)
}

// Read fails, or ends where the line is cut.
func (l *line) Read(ctx context.Context, log string, from uint64, live bool) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		reading, cancel := context.WithCancel(ctx)
		defer cancel()
		l.mu.Lock()
		l.hangUp = cancel
		if l.deaf {
			cancel()
		}
		l.mu.Unlock()
		for rec, err := range l.Engine.Read(reading, log, from, live) {
			if ctx.Err() == nil && reading.Err() != nil {
				yield(journal.Record{}, fmt.Errorf("%w: an election", journal.ErrStore))
				return
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// elect makes readers fail until it is called again.
func (l *line) elect(deaf bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf = deaf; l.hangUp != nil {
		l.hangUp()
	}
}

func (l *line) Open(ctx context.Context, log, owner string) (journal.Writer, error) {
	if err := l.pass(ctx, log); err != nil {
		return nil, err
	}
	w, err := l.Engine.Open(ctx, log, owner)
	if err != nil {
		return nil, err
	}
	return &lineWriter{w, l}, nil
}

// lineWriter stores nothing behind a line that is cut.
type lineWriter struct {
	journal.Writer
	l *line
}

func (w *lineWriter) Append(data []byte) (uint64, error) {
	w.l.mu.Lock()
	dead := w.l.left == 0
	if w.l.left > 0 {
		w.l.left--
	}
	w.l.mu.Unlock()
	if dead {
		return 0, errCut
	}
	return w.Writer.Append(data)
}

// town is several processes on one journal. The first one has a session.
type town struct {
	*testing.T
	engine *journaltest.Memory
	names  []string
	nodes  map[string]*townNode
}

// townNode is one of the processes. Its model does not answer before it is opened.
type townNode struct {
	*house
	name string
	line *line
	llm  *blocked
}

// newTown starts processes with the names; turns are what the models answer.
func newTown(t *testing.T, d Definition, turns []provider.ScriptTurn, names []string, tools ...Tool) *town {
	t.Helper()
	w := &town{T: t, engine: journaltest.NewMemory(), nodes: map[string]*townNode{}}
	for _, name := range names {
		w.add(name, name, turns, tools...)
	}
	first := w.nodes[names[0]]
	d.Name, d.Model = "desk", ModelRef{ID: "script"}
	a, err := first.rt.CreateAgent(t.Context(), ada, d)
	if err != nil {
		t.Fatal(err)
	}
	s, err := first.rt.StartSession(t.Context(), ada, SessionRequest{Agent: a.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range w.nodes {
		n.session = s.ID
	}
	return w
}

// add starts a process. key is what the town calls it.
func (w *town) add(key, name string, turns []provider.ScriptTurn, tools ...Tool) *townNode {
	w.Helper()
	n := &townNode{name: name, line: &line{Engine: w.engine, left: -1}, llm: blocking(turns...)}
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) { return n.llm, nil })
	n.house = &house{T: w.T, engine: w.engine, cfg: Config{Journal: n.line, Models: models, Tools: tools, Node: name,
		Cluster: &Cluster{Address: "http://" + name}}}
	if first := w.nodes["a"]; first != nil {
		n.session = first.session
	}
	n.open()
	w.names, w.nodes[key] = append(w.names, key), n
	return n
}

// end stops all processes.
func (w *town) end() {
	w.Helper()
	for _, name := range w.names {
		n := w.nodes[name]
		select {
		case <-n.llm.open:
		default:
			close(n.llm.open)
		}
		n.close()
	}
}

// within waits until something is so, and says how long that took.
func (w *town) within(most time.Duration, what string, is func() bool) time.Duration {
	w.Helper()
	begin := time.Now()
	for synctest.Wait(); !is(); synctest.Wait() {
		if time.Since(begin) > most {
			w.Fatalf("%s: not within %v", what, most)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begin)
}

// holder is the process that the session is with, by its document.
func (w *town) holder(id string) string {
	d, err := w.engine.Get(context.Background(), activeDocs+id)
	if err != nil {
		return ""
	}
	return decodeDoc[holder](d).Node
}

// members are the processes with a document.
func (w *town) members() string {
	w.Helper()
	docs, err := w.engine.List(context.Background(), journal.Query{Prefix: nodeDocs})
	if err != nil {
		w.Fatal(err)
	}
	var list []string
	for _, d := range docs {
		list = append(list, strings.TrimPrefix(d.Key, nodeDocs))
	}
	return strings.Join(list, " ")
}

// has reports whether a process has a session in memory.
func (n *townNode) has(id string) bool {
	n.rt.mu.Lock()
	defer n.rt.mu.Unlock()
	s := n.rt.active[id]
	return s != nil && s.o != nil
}

// elsewhere holds the error of a request to a process to the one that names another.
func (n *townNode) elsewhere(want string) {
	n.Helper()
	_, err := n.rt.Send(n.Context(), ada, n.session, Once{}, Text("Hi"))
	e := (*Error)(nil)
	if !errors.As(err, &e) || e.Code != Elsewhere || e.Node != want || e.Address != "http://"+want {
		n.Errorf("%s answers %v, want that %s has the session", n.name, err, want)
	}
}

// owners are the owners of a log, in order.
func (w *town) owners(id string) []string {
	w.Helper()
	var list []string
	for rec, err := range w.engine.Read(context.Background(), logKey(id), 1, false) {
		if err != nil {
			w.Fatal(err)
		}
		if rec.Kind == journal.Claim {
			list = append(list, rec.Owner)
		}
	}
	return list
}

// follow streams the session from a process until ctx ends, and returns what it has told, which must be dense.
func (n *townNode) follow(ctx context.Context) func() []*Event {
	var mu sync.Mutex
	var list []*Event
	go func() {
		for ev, err := range n.rt.Events(ctx, ada, n.session, 1, true) {
			mu.Lock()
			if err != nil || ev.Seq != uint64(len(list))+1 {
				n.Errorf("the stream tells event %+v, %v behind %d", ev, err, len(list))
			}
			list = append(list, ev)
			mu.Unlock()
		}
	}()
	return func() []*Event {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}
