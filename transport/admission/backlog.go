package admission

import (
	"container/list"
	"sync"
)

// Backlog bounds the handshakes of unproven clients, per address and in all. There is always room
// for one more: it pushes out the oldest of its own address when that address has its share, or
// else the oldest of the address that has the most. So silent clients at one address cost other
// addresses nothing, and fast clients pass. Safe for concurrent use.
type Backlog struct {
	most, each int

	mu   sync.Mutex
	in   list.List      // of *Place, the oldest first
	from map[string]int // number of places of each address; never 0
}

// Place is a place in a Backlog.
type Place struct {
	backlog *Backlog
	address string
	pushOut func()
	at      *list.Element // nil after it left or was pushed out
}

// NewBacklog makes a backlog with room for most handshakes, and for each handshakes of one address.
// Both are at least 1.
func NewBacklog(most, each int) *Backlog {
	return &Backlog{most: max(most, 1), each: max(each, 1), from: map[string]int{}}
}

// Enter takes a place. When the place is lost before Leave, the goroutine that takes it away calls
// pushOut, at most once; pushOut must not block.
func (b *Backlog) Enter(address string, pushOut func()) *Place {
	p := &Place{backlog: b, address: address, pushOut: pushOut}
	if out := b.put(p); out != nil {
		out.pushOut()
	}
	return p
}

// PushOut pushes out the oldest place of an address, and reports whether there was one.
func (b *Backlog) PushOut(address string) bool {
	b.mu.Lock()
	var out *Place
	if b.from[address] > 0 {
		out = b.oldest(address)
		b.remove(out)
	}
	b.mu.Unlock()
	if out != nil {
		out.pushOut()
	}
	return out != nil
}

// put adds p and returns the place it pushed out, or nil.
func (b *Backlog) put(p *Place) (out *Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.from[p.address] >= b.each:
		out = b.oldest(p.address)
	case b.in.Len() >= b.most:
		out = b.oldest(b.largest())
	}
	if out != nil {
		b.remove(out)
	}
	p.at = b.in.PushBack(p)
	b.from[p.address]++
	return out
}

// largest returns the address that has the most places; of several the one that has the oldest
// place. The caller holds mu.
func (b *Backlog) largest() (address string) {
	most := 0
	for at := b.in.Front(); at != nil; at = at.Next() {
		if p := at.Value.(*Place); b.from[p.address] > most {
			address, most = p.address, b.from[p.address]
		}
	}
	return address
}

// oldest returns the oldest place of an address that has one; the caller holds mu.
func (b *Backlog) oldest(address string) *Place {
	for at := b.in.Front(); ; at = at.Next() {
		if p := at.Value.(*Place); p.address == address {
			return p
		}
	}
}

// remove takes a place away; the caller holds mu.
func (b *Backlog) remove(p *Place) {
	b.in.Remove(p.at)
	p.at = nil
	if b.from[p.address]--; b.from[p.address] == 0 {
		delete(b.from, p.address)
	}
}

// Leave gives the place back, and reports whether it was still taken. It may be called more than
// once.
func (p *Place) Leave() bool {
	p.backlog.mu.Lock()
	defer p.backlog.mu.Unlock()
	if p.at == nil {
		return false
	}
	p.backlog.remove(p)
	return true
}
