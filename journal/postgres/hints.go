package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A topic is the kind of a thing and its key.
const (
	logTopic = "l:"
	docTopic = "d:"
)

// hints tell readers, here and on other nodes, that something has changed. They may be lost.
type hints struct {
	node    string // of this engine, so that it does not hear itself
	channel string
	pool    *pgxpool.Pool
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu        sync.Mutex
	listeners map[string]map[*listener]bool // by topic, or by docTopic for those of prefixes
	outbox    map[string]bool               // topics that other nodes shall hear of
	sending   bool
	closed    bool
}

// listener is somebody who waits.
type listener struct {
	h     *hints
	topic string
	news  chan struct{} // has room for one
	// For a listener to the documents with a prefix:
	prefix string
	keys   map[string]bool // that have changed
	all    bool            // any may have
}

// newHints begins to hear what other nodes say.
func newHints(ctx context.Context, pool *pgxpool.Pool, c *pgx.ConnConfig, channel string) (*hints, error) {
	h := &hints{node: node(), channel: channel, pool: pool, listeners: map[string]map[*listener]bool{},
		outbox: map[string]bool{}}
	c = c.Copy()
	c.RuntimeParams["application_name"] = "voicegw journal hints"
	conn, err := h.connect(ctx, c)
	if err != nil {
		return nil, err
	}
	var life context.Context
	life, h.stop = context.WithCancel(context.Background())
	h.work.Go(func() { h.hear(life, c, conn) })
	return h, nil
}

func node() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

func (h *hints) connect(ctx context.Context, c *pgx.ConnConfig) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+h.channel); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	return conn, nil
}

// hear wakes listeners for what other nodes say, until the context ends. It connects again when it must.
func (h *hints) hear(ctx context.Context, c *pgx.ConnConfig, conn *pgx.Conn) {
	for ctx.Err() == nil {
		if conn == nil {
			conn, _ = h.connect(ctx, c)
			h.wakeAll() // it has missed something
		}
		if conn == nil {
			select {
			case <-time.After(pollEvery):
			case <-ctx.Done():
			}
			continue
		}
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
			conn = nil
			continue
		}
		if from, topic, _ := strings.Cut(n.Payload, " "); from != h.node {
			h.wake(topic)
		}
	}
}

// close ends hearing and speaking.
func (h *hints) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.stop()
	h.work.Wait()
}

// listen returns a listener to a topic; to nothing, if it is not live.
func (h *hints) listen(topic string, live bool) *listener {
	l := &listener{h: h, topic: topic, news: make(chan struct{}, 1)}
	if live {
		h.add(l)
	}
	return l
}

// watch returns a listener to the documents with a prefix.
func (h *hints) watch(prefix string) *listener {
	l := &listener{h: h, topic: docTopic, news: make(chan struct{}, 1), prefix: prefix, keys: map[string]bool{}}
	h.add(l)
	return l
}

func (h *hints) add(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.listeners[l.topic] == nil {
		h.listeners[l.topic] = map[*listener]bool{}
	}
	h.listeners[l.topic][l] = true
}

func (l *listener) stop() {
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	if delete(l.h.listeners[l.topic], l); len(l.h.listeners[l.topic]) == 0 {
		delete(l.h.listeners, l.topic)
	}
}

// take returns the keys of documents that have changed, sorted, or that all may have.
func (l *listener) take() (keys []string, all bool) {
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	keys, all = slices.Sorted(maps.Keys(l.keys)), l.all
	clear(l.keys)
	l.all = false
	return keys, all
}

func (l *listener) wake() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// wake wakes those who wait for a topic.
func (h *hints) wake(topic string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for l := range h.listeners[topic] {
		l.wake()
	}
	key, isDoc := strings.CutPrefix(topic, docTopic)
	if !isDoc {
		return
	}
	for l := range h.listeners[docTopic] {
		if strings.HasPrefix(key, l.prefix) {
			l.keys[key] = true
			l.wake()
		}
	}
}

// wakeAll wakes everybody.
func (h *hints) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, set := range h.listeners {
		for l := range set {
			l.all = true
			l.wake()
		}
	}
}

// tell wakes those who wait for a topic, here and on other nodes.
func (h *hints) tell(topic string) {
	h.wake(topic)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if h.outbox[topic] = true; !h.sending {
		h.sending = true
		h.work.Go(h.send)
	}
}

// send tells other nodes what is in the outbox. What gathers meanwhile goes in one request: the server lets
// one transaction at a time end that has notified.
func (h *hints) send() {
	for {
		h.mu.Lock()
		topics := slices.Collect(maps.Keys(h.outbox))
		clear(h.outbox)
		if h.sending = len(topics) > 0 && !h.closed; !h.sending {
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), pollEvery)
		const tell = `SELECT pg_notify($1, $2 || ' ' || topic) FROM unnest($3::text[]) AS topic`
		_, _ = h.pool.Exec(ctx, tell, h.channel, h.node, topics) // if this fails, the others look by themselves
		cancel()
	}
}
