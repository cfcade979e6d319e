package access

import (
	"container/heap"
	"crypto/sha256"
	"time"
)

// seen holds used tokens until they expire. The guard's mutex protects it.
type seen struct {
	max   int
	ids   map[tokenID]int // how often a token was used; 0: unused again, forgotten when it expires
	queue expiries
}

// tokenID is a hash of issuer and jti.
type tokenID [16]byte

func idOf(c *Claims) tokenID {
	sum := sha256.Sum256([]byte(c.Issuer + "\x00" + c.ID))
	return tokenID(sum[:16])
}

type expiry struct {
	at time.Time
	id tokenID
}

// expiries is a heap.Interface with the next token to expire first.
type expiries []expiry

// Len is part of heap.Interface.
func (e expiries) Len() int { return len(e) }

// Less is part of heap.Interface.
func (e expiries) Less(i, j int) bool { return e[i].at.Before(e[j].at) }

// Swap is part of heap.Interface.
func (e expiries) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push is part of heap.Interface.
func (e *expiries) Push(x any) { *e = append(*e, x.(expiry)) }

// Pop is part of heap.Interface.
func (e *expiries) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

// uses returns how often a token was used. It forgets expired tokens.
func (s *seen) uses(id tokenID, now time.Time) int {
	for len(s.queue) > 0 && !now.Before(s.queue[0].at) {
		delete(s.ids, heap.Pop(&s.queue).(expiry).id)
	}
	return s.ids[id]
}

// full reports whether there is no room for another token. The guard then refuses tokens: to forget
// one would make it usable again. There is room for a token that is remembered already.
func (s *seen) full(id tokenID) bool {
	_, known := s.ids[id]
	return !known && len(s.ids) >= s.max
}

// add counts a use of a token, and remembers it until it expires.
func (s *seen) add(id tokenID, until time.Time) {
	if _, known := s.ids[id]; !known {
		heap.Push(&s.queue, expiry{until, id})
	}
	s.ids[id]++
}

// giveBack takes back a use of a token.
func (s *seen) giveBack(id tokenID) {
	if s.ids[id] > 0 {
		s.ids[id]--
	}
}
