package managed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/journal"
)

// Cluster lets several processes serve the sessions of one journal. Each session has one process at a
// time. A process that dies, or does not reach the journal any more, loses its sessions to the others
// within six beats; while the journal does not answer, nobody loses any.
type Cluster struct {
	// Address is where the other processes reach the API of this one, such as "http://10.0.0.7:8080". It is
	// required.
	Address string
	// Beat is how often the process tells the others that it lives; the same for all. Default 500 ms.
	Beat time.Duration
}

const (
	beatDefault = 500 * time.Millisecond
	// beatsMissed is how many beats of its own a process counts without one of another, which it then takes
	// for dead. No clock is compared: a process whose own beats are not stored counts nothing.
	beatsMissed = 4
	// lookEvery is after how many beats a process looks for sessions that nobody has in memory, whatever it knows
	// of the others.
	lookEvery = 60
	// handOver is how long sessions may take to stop before the others may take them all the same.
	handOver = time.Second
)

func (c *Cluster) check(node string) error {
	if u, err := url.Parse(c.Address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" ||
		u.User != nil {
		return errors.New("managed: Config.Cluster.Address must be an http or https URL without a user; give one that the " +
			"other processes reach")
	}
	if journal.CheckKey(nodeDocs+node) != nil || strings.Contains(node, "/") {
		return fmt.Errorf("managed: Config.Node is %q; it may have letters, digits, \"_\" and \"-\", with a letter or a "+
			"digit at both ends", node)
	}
	if c.Beat < 0 {
		return fmt.Errorf("managed: Config.Cluster.Beat is %v; it must be positive", c.Beat)
	}
	return nil
}

// errReplaced means that a process of the same name has joined.
var errReplaced = errors.New("another process has the same name")

// errDeclaredDead means that the others have taken this process for dead.
var errDeclaredDead = errors.New("the other nodes have taken this one for dead")

// membership is a process among others, from joining to leaving. One goroutine uses it.
type membership struct {
	r        *Runtime
	key      string // of the document
	value    []byte
	revision uint64
	peers    map[string]*peer // by name
	look     bool             // for sessions whose process is gone
	rest     int              // beats until then
	swept    chan bool        // whether a sweep is to be repeated; nil: none runs
}

// peer is another process, as it was seen last.
type peer struct {
	revision uint64
	missed   int // own beats since
}

// self is this process as a holder of sessions. It waits until the process has joined the others.
func (r *Runtime) self(ctx context.Context) (holder, error) {
	for {
		r.mu.Lock()
		me, wait, over := r.me, r.joining, r.closed || r.replaced
		r.mu.Unlock()
		switch {
		case over:
			return holder{}, errStopping()
		case wait == nil:
			return me, nil
		}
		select {
		case <-wait:
		case <-r.stop:
			return holder{}, errStopping()
		case <-ctx.Done():
			return holder{}, ctx.Err()
		}
	}
}

// serveNode keeps this process among the others until stop is closed, and then leaves.
func (r *Runtime) serveNode(stop <-chan struct{}) {
	for {
		m, err := r.join(stop)
		if err == nil {
			err = m.run(stop)
		}
		if err == nil {
			return
		}
		r.cfg.Logger.Error("this node lets go of all its sessions", zap.String("node", r.cfg.Node), zap.Error(err))
		r.letGoAll(errors.Is(err, errReplaced))
		if errors.Is(err, errReplaced) {
			return
		}
	}
}

// join stores the document of this process, in place of that of a process of the same name. Its error is
// errReplaced if one has come in between. It returns nil, nil when stop is closed.
func (r *Runtime) join(stop <-chan struct{}) (*membership, error) {
	me := holder{Node: r.cfg.Node, Incarnation: r.newID("")}
	value, err := json.Marshal(nodeDoc{Incarnation: me.Incarnation, Address: r.cfg.Cluster.Address})
	if err != nil {
		return nil, err
	}
	m := &membership{r: r, key: nodeDocs + me.Node, value: value, peers: map[string]*peer{}, look: true}
	r.mu.Lock()
	first := r.me.Incarnation == ""
	r.mu.Unlock()
	for {
		ctx, cancel := r.request()
		d, err := r.cfg.Journal.Get(ctx, m.key)
		if err == nil || errors.Is(err, journal.ErrNotFound) {
			if err == nil && !first && decodeDoc[nodeDoc](d).Incarnation != me.Incarnation {
				cancel()
				return nil, errReplaced
			}
			m.revision, err = r.cfg.Journal.Put(ctx, m.key, value, d.Revision)
		}
		cancel()
		if err == nil {
			r.mu.Lock()
			r.me = me
			close(r.joining)
			r.joining = nil
			r.mu.Unlock()
			return m, nil
		}
		select {
		case <-stop:
			return nil, nil
		case <-time.After(r.cfg.Cluster.Beat):
		}
	}
}

// request is a context for one request to the journal by the goroutine that beats. It must not wait long
// when the journal answers again.
func (r *Runtime) request() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 2*r.cfg.Cluster.Beat)
}

// run beats until stop is closed. Its error says why the process is no member any more.
func (m *membership) run(stop <-chan struct{}) error {
	if m == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	for {
		err := m.beat()
		if err == nil {
			m.sweep(ctx)
			select {
			case <-time.After(m.r.cfg.Cluster.Beat): // also behind a beat that took long: four are never close together
				continue
			case <-stop:
			}
		}
		cancel()
		if m.swept != nil {
			<-m.swept
		}
		if err == nil {
			m.leave()
		}
		return err
	}
}

// sweep takes over sessions in a goroutine, if there may be any, one goroutine at a time.
func (m *membership) sweep(ctx context.Context) {
	select {
	case again := <-m.swept:
		m.swept = nil
		if again {
			m.look, m.rest = true, beatsMissed
		}
	default:
	}
	m.rest--
	m.r.mu.Lock()
	switch {
	case m.look:
	case len(m.r.lost) > 0:
		m.look, m.rest = true, beatsMissed
	case m.rest < -lookEvery: // a process may have come and gone between two beats
		m.look = true
	}
	m.r.mu.Unlock()
	if !m.look || m.rest > 0 || m.swept != nil {
		return
	}
	m.look, m.rest, m.swept = false, 0, make(chan bool, 1)
	go func(swept chan<- bool) {
		_, again, err := m.r.sweep(ctx)
		if err != nil && ctx.Err() == nil {
			m.r.cfg.Logger.Warn("the sessions of other nodes cannot be listed", zap.Error(err))
		}
		swept <- again || err != nil
	}(m.swept)
}

// beat stores that the process lives, and looks at the others. Only what is stored and seen counts.
func (m *membership) beat() error {
	ctx, cancel := m.r.request()
	defer cancel()
	revision, err := m.r.cfg.Journal.Put(ctx, m.key, m.value, m.revision)
	if errors.Is(err, journal.ErrConflict) {
		return m.conflict(ctx)
	}
	if err == nil {
		m.revision = revision
		err = m.watch(ctx)
	}
	if err != nil {
		for _, p := range m.peers {
			p.missed = 0
		}
	}
	return nil
}

// conflict finds out why a beat was refused. An earlier one may have been stored without an answer.
func (m *membership) conflict(ctx context.Context) error {
	d, err := m.r.cfg.Journal.Get(ctx, m.key)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return errDeclaredDead
	case err != nil:
		return nil // the next beat tells
	case string(d.Value) != string(m.value):
		return errReplaced
	}
	m.revision = d.Revision
	return nil
}

// watch counts the beats of the others. A process is dead when its document is removed; of those who want
// to remove it, and the process itself, one is first.
func (m *membership) watch(ctx context.Context) error {
	docs, err := m.r.cfg.Journal.List(ctx, journal.Query{Prefix: nodeDocs})
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, d := range docs {
		if d.Key == m.key {
			continue
		}
		there[d.Key] = true
		p := m.peers[d.Key]
		if p == nil || p.revision != d.Revision {
			m.peers[d.Key] = &peer{revision: d.Revision}
			continue
		}
		if p.missed++; p.missed < beatsMissed {
			continue
		}
		err := m.r.cfg.Journal.Remove(ctx, d.Key, d.Revision)
		if errors.Is(err, journal.ErrConflict) {
			continue
		}
		if err != nil {
			return err
		}
		m.r.cfg.Logger.Warn("a node is dead", zap.String("node", strings.TrimPrefix(d.Key, nodeDocs)))
		delete(there, d.Key)
	}
	for key := range m.peers {
		if !there[key] {
			delete(m.peers, key)
			m.look, m.rest = true, 0
		}
	}
	return nil
}

// leave removes the document: the others may take over at once what is left.
func (m *membership) leave() {
	ctx, cancel := m.r.request()
	defer cancel()
	d, err := m.r.cfg.Journal.Get(ctx, m.key)
	if err == nil && string(d.Value) == string(m.value) {
		err = m.r.cfg.Journal.Remove(ctx, m.key, d.Revision)
	}
	if err != nil && !errors.Is(err, journal.ErrNotFound) && !errors.Is(err, journal.ErrConflict) {
		m.r.cfg.Logger.Warn("the other nodes do not learn that this one leaves", zap.Error(err))
	}
}

// letGoAll lets go of all sessions, of which others may have taken some. Those that were at work stay in
// the list of active ones, under an incarnation that is gone. for ever means that this process does not
// join again.
func (r *Runtime) letGoAll(forever bool) {
	r.mu.Lock()
	r.replaced = forever
	if r.joining == nil {
		r.joining = make(chan struct{})
	}
	if forever {
		close(r.joining)
		r.joining = nil
	}
	r.mu.Unlock()
	<-r.empty(context.Background())
}
