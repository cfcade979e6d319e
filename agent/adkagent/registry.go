package adkagent

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	adk "google.golang.org/adk/v2/agent"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri/event"
)

// Key names a session of an app.
type Key struct{ App, User, Session string }

// keyOf is the key of the session of an invocation.
func keyOf(ic adk.InvocationContext) Key {
	s := ic.Session()
	if s == nil {
		return Key{}
	}
	return Key{App: s.AppName(), User: s.UserID(), Session: s.ID()}
}

// nets are the running nets of an agent, one for each session.
type nets struct {
	most   int
	idle   time.Duration
	store  func(Key) event.Store
	logger *zap.Logger

	mu     sync.Mutex
	all    map[Key]*net
	ending map[*agent.Session]bool // that are being closed
	uses   uint64
	closed bool
}

// net is the net of one session.
type net struct {
	key  Key
	busy chan struct{} // holds a token while no turn runs; whoever has it owns session and active
	// active is the agent with which the next turn of the session begins.
	active  string
	last    string // id of the last event of the turn before
	session *agent.Session

	// The rest belongs to nets.
	users   int // turns that run or wait
	lastUse uint64
	timer   *time.Timer // while there are no users
	gone    bool        // it is not among nets.all any more
}

func newNets(o Options) *nets {
	n := &nets{most: o.MaxNets, idle: o.Idle, store: o.Store, logger: o.Logger, all: map[Key]*net{},
		ending: map[*agent.Session]bool{}}
	if n.most <= 0 {
		n.most = 1000
	}
	if n.idle <= 0 {
		n.idle = 10 * time.Minute
	}
	return n
}

// take returns the net of a session for one turn. It waits for the turn before. release gives it back.
// A net that was closed meanwhile is not taken: the turns that begin later have another one.
func (n *nets) take(ctx context.Context, k Key) (*net, error) {
	for {
		s, err := n.enter(k)
		if err != nil {
			return nil, err
		}
		select {
		case <-s.busy:
			if !n.isGone(s) {
				return s, nil
			}
			n.release(s)
		case <-ctx.Done():
			n.leave(s)
			return nil, fmt.Errorf("adkagent: wait for the turn before: %w", ctx.Err())
		}
	}
}

func (n *nets) isGone(s *net) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return s.gone
}

// enter counts a user of a net, which it makes if there is none.
func (n *nets) enter(k Key) (*net, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, ErrClosed
	}
	s := n.all[k]
	if s == nil {
		if len(n.all) >= n.most && !n.makeRoom() {
			return nil, &agent.Fault{Code: TooManySessions,
				Text: fmt.Sprintf("%d sessions have a turn at this time, which is the limit; try again later", n.most)}
		}
		s = &net{key: k, busy: make(chan struct{}, 1)}
		s.busy <- struct{}{}
		n.all[k] = s
	}
	s.users++
	n.uses++
	s.lastUse = n.uses
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	return s, nil
}

// makeRoom closes the net that was idle longest. The caller holds mu.
func (n *nets) makeRoom() bool {
	var oldest *net
	for _, s := range n.all {
		if s.users == 0 && (oldest == nil || s.lastUse < oldest.lastUse) {
			oldest = s
		}
	}
	if oldest != nil {
		n.drop(oldest)
	}
	return oldest != nil
}

// drop forgets a net and closes it once nobody uses it. The caller holds mu.
func (n *nets) drop(s *net) {
	if n.all[s.key] == s {
		delete(n.all, s.key)
	}
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	s.gone = true
	if s.users == 0 {
		n.end(s)
	}
}

// end closes a net that nobody uses, without waiting for it. The caller holds mu.
func (n *nets) end(s *net) {
	if s.session == nil {
		return
	}
	ended := s.session
	s.session = nil
	n.ending[ended] = true
	n.soon(func() { n.shut(ended) })
}

// soon calls fn in a goroutine. Neither a cleanup nor whoever holds mu may wait for a net to close.
func (*nets) soon(fn func()) { time.AfterFunc(0, fn) }

// shut closes a session and waits for that.
func (n *nets) shut(s *agent.Session) {
	if err := s.Close(); err != nil && n.logger != nil {
		n.logger.Warn("net closed late", zap.Error(err))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.ending, s)
}

// release gives a net back after a turn.
func (n *nets) release(s *net) {
	s.busy <- struct{}{}
	n.leave(s)
}

// leave counts a user off.
func (n *nets) leave(s *net) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s.users--
	switch {
	case s.users > 0:
	case s.gone:
		n.end(s)
	default:
		s.timer = time.AfterFunc(n.idle, func() { n.retire(s) })
	}
}

// retire closes a net that has been idle for long enough.
func (n *nets) retire(s *net) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.users == 0 && !s.gone {
		n.drop(s)
	}
}

// closeSession closes the net of a session. A turn that runs ends.
func (n *nets) closeSession(k Key) {
	n.mu.Lock()
	s := n.all[k]
	if s == nil {
		n.mu.Unlock()
		return
	}
	running := s.session
	n.drop(s)
	n.mu.Unlock()
	if running != nil {
		n.shut(running)
	}
}

// close closes all nets and waits for that.
func (n *nets) close() {
	n.mu.Lock()
	n.closed = true
	for _, s := range n.all {
		if s.session != nil {
			n.ending[s.session] = true
		}
		n.drop(s)
	}
	list := slices.Collect(maps.Keys(n.ending))
	n.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range list {
		all.Add(1)
		n.soon(func() {
			defer all.Done()
			n.shut(s)
		})
	}
	all.Wait()
}

func (n *nets) running() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.all)
}

// open returns the running net of a session for a turn that begins with an agent. The caller has taken s.
func (n *nets) open(s *net, begins string, programs *programs) (*agent.Session, error) {
	n.mu.Lock()
	closed, gone := n.closed, s.gone
	n.mu.Unlock()
	switch {
	case closed:
		return nil, ErrClosed
	case gone: // closed since the turn has taken it
		return nil, agent.ErrClosed
	case s.session != nil && s.active == begins:
		return s.session, nil
	}
	p, err := programs.get(begins)
	if err != nil {
		return nil, err
	}
	o := agent.Options{Name: s.key.Session, Logger: n.logger}
	if n.store != nil {
		o.Store = n.store(s.key)
	}
	started, err := agent.Start(p, o)
	if err != nil {
		return nil, err
	}
	n.replace(s, started)
	s.active = begins
	return started, nil
}

// replace sets the session of a net and closes the one before. nil means none. A net that is gone keeps none.
func (n *nets) replace(s *net, with *agent.Session) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.end(s)
	s.session = with
	if s.gone {
		n.end(s)
	}
}

// programs are the programs of an agent, one for each agent with which a session may begin.
type programs struct {
	make func(begins string) (*agent.Program, error)

	mu  sync.Mutex
	all map[string]*agent.Program
}

func (p *programs) get(begins string) (*agent.Program, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if made := p.all[begins]; made != nil {
		return made, nil
	}
	made, err := p.make(begins)
	if err != nil {
		return nil, err
	}
	if p.all == nil {
		p.all = map[string]*agent.Program{}
	}
	p.all[begins] = made
	return made, nil
}
