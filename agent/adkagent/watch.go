package adkagent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/agent"
	"github.com/voicegw/voicegw/petri/netview"
	"github.com/voicegw/voicegw/web"
)

// NetPage serves a page that shows the running nets of the agent's sessions, as they move. Mount it at a
// path that ends in "/", behind your own authorization:
//
//	mux.Handle("/nets/", http.StripPrefix("/nets", host.NetPage()))
//
// The page shows names of sessions, places and transitions, and nothing that was said. It never delays a
// net. A session has at most agent.WatchersMax viewers.
func (a *Agent) NetPage() http.Handler {
	n := a.core.nets
	return web.NetPage(web.NetPageConfig{Title: "Nets of " + a.core.name, List: n.links,
		Open: func(_ context.Context, q url.Values) (web.Net, func(), error) {
			return n.watch(Key{App: q.Get("app"), User: q.Get("user"), Session: q.Get("session")})
		}})
}

// links lead to the nets that run.
func (n *nets) links() []web.NetLink {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []web.NetLink
	for k, s := range n.all {
		if s.session != nil {
			list = append(list, web.NetLink{Title: fmt.Sprintf("%s, %s, %s", k.App, k.User, k.Session),
				Query: url.Values{"app": {k.App}, "user": {k.User}, "session": {k.Session}}})
		}
	}
	slices.SortFunc(list, func(a, b web.NetLink) int { return strings.Compare(a.Title, b.Title) })
	return list
}

// netWatch is the view of a net until that ends.
type netWatch struct {
	*netview.View
	over <-chan struct{}
}

var errNetOver = errors.New("adkagent: the net has ended")

// Next waits for a change.
func (w netWatch) Next(ctx context.Context) ([]byte, error) {
	select {
	case <-w.over:
		return nil, errNetOver
	case <-w.Changed():
		w.Touch()
		return w.View.Next(ctx)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// watch returns a view of the net of a session.
func (n *nets) watch(k Key) (web.Net, func(), error) {
	n.mu.Lock()
	var s *agent.Session
	if one := n.all[k]; one != nil {
		s = one.session
	}
	n.mu.Unlock()
	if s == nil {
		return nil, nil, fmt.Errorf("adkagent: no net runs for the session %q of user %q in app %q", k.Session, k.User, k.App)
	}
	v, stop, err := s.Watch()
	if err != nil {
		return nil, nil, err
	}
	return netWatch{v, s.Done()}, stop, nil
}
