package access

import (
	"container/heap"
	"crypto/sha256"
	"time"
)

// seen are the tokens that were used, until they expire. The guard's mutex owns it.
type seen struct {
	max   int
	ids   map[tokenID]bool // false: given back, and to be forgotten when it expires
	queue expiries
}

// tokenID stands for issuer and jti, in a fixed size.
type tokenID [16]byte

func idOf(c *Claims) tokenID {
	sum := sha256.Sum256([]byte(c.Issuer + "\x00" + c.ID))
	return tokenID(sum[:16])
}

type expiry struct {
	at time.Time
	id tokenID
}

// expiries is a heap: the next one to expire first.
type expiries []expiry

// Len, Less, Swap, Push and Pop make it a heap.Interface.
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

// has reports whether a token was used, and forgets those that have expired.
func (s *seen) has(id tokenID, now time.Time) bool {
	for len(s.queue) > 0 && !now.Before(s.queue[0].at) {
		delete(s.ids, heap.Pop(&s.queue).(expiry).id)
	}
	return s.ids[id]
}

// full reports whether no more tokens can be remembered. Then none is taken: to forget one would allow it again.
func (s *seen) full() bool { return len(s.ids) >= s.max }

// add remembers a token until it can be used no more.
func (s *seen) add(id tokenID, until time.Time) {
	if _, known := s.ids[id]; !known {
		heap.Push(&s.queue, expiry{until, id})
	}
	s.ids[id] = true
}

// giveBack lets a token be used again.
func (s *seen) giveBack(id tokenID) {
	if s.ids[id] {
		s.ids[id] = false
	}
}
