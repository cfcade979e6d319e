package sim

import "sync"

// handlesMax is how many resumption handles a Server keeps. At the limit it forgets the oldest.
const handlesMax = 1000

// session is the state that a handle resumes.
type session struct {
	owner   *recorder // of the connection that got the handle
	turns   int
	use     usage
	calls   []call
	history []Line
}

// handles are the resumption handles of a Server.
type handles struct {
	mu    sync.Mutex
	all   map[string]session
	order []string
}

func (h *handles) put(handle string, s session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.order) == handlesMax {
		delete(h.all, h.order[0])
		h.order = append(h.order[:0], h.order[1:]...)
	}
	h.all[handle] = s
	h.order = append(h.order, handle)
}

// forget makes every handle unknown.
func (h *handles) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.all)
	h.order = h.order[:0]
}

func (h *handles) get(handle string) (session, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.all[handle]
	return s, ok
}
