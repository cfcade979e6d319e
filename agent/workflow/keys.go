package workflow

import (
	"maps"
	"slices"
)

// use is a read of a state key by a leaf where it is used.
type use struct {
	leaf *block
	read read
}

// keySet is a set of state keys.
type keySet map[string]bool

func (s keySet) clone() keySet {
	c := maps.Clone(s)
	if c == nil {
		c = keySet{}
	}
	return c
}

// and is what both sets have; all of other if s is nil, which stands for every key.
func (s keySet) and(other keySet) keySet {
	if s == nil {
		return other.clone()
	}
	out := keySet{}
	for k := range s {
		if other[k] {
			out[k] = true
		}
	}
	return out
}

// or is what one of the sets has.
func (s keySet) or(other keySet) keySet {
	out := s.clone()
	for k := range other {
		out[k] = true
	}
	return out
}

func (s keySet) has(all keySet) bool {
	for k := range all {
		if !s[k] {
			return false
		}
	}
	return true
}

// summary is what the block around a block needs to know about its state keys.
type summary struct {
	reads  []use               // by any leaf in it
	writes map[string][]*block // leaves that may write a key
	// needs are reads that come before any write in the block, on some path: the key must be there when a
	// run enters.
	needs []use
	known map[use]bool // of needs
	// must are, by outlet, the keys that are written whenever a run leaves by it.
	must []keySet
}

// leafKeys is the summary of a leaf as if it had no kids.
func leafKeys(b *block) *summary {
	s := &summary{writes: map[string][]*block{}}
	own := keySet{}
	if key := b.own(); key != "" {
		own[key] = true
		s.writes[key] = []*block{b}
	}
	for _, r := range b.agent.reads {
		s.reads = append(s.reads, use{b, r})
		if !r.optional && !slices.Contains(seeded(), r.key) {
			s.need(use{b, r})
		}
	}
	for range b.outlets() {
		s.must = append(s.must, own)
	}
	return s
}

// need adds a need, once.
func (s *summary) need(u use) {
	if s.known == nil {
		s.known = map[use]bool{}
	}
	if !s.known[u] {
		s.known[u] = true
		s.needs = append(s.needs, u)
	}
}

// gather starts the summary of a block with what its kids read and write.
func (s *summary) gather(kids []*summary) {
	for _, k := range kids {
		s.reads = append(s.reads, k.reads...)
		for key, list := range k.writes {
			s.writes[key] = append(s.writes[key], list...)
		}
	}
}

// lacking adds the needs of a kid that a set of keys does not meet.
func (s *summary) lacking(kid *summary, have keySet) {
	for _, u := range kid.needs {
		if !have[u.read.key] {
			s.need(u)
		}
	}
}

// forwardKeys is the summary of a block in which nothing comes again.
func forwardKeys(c *course, kids []*summary) *summary {
	s := &summary{writes: map[string][]*block{}}
	s.gather(kids)
	have := make([]keySet, len(kids))
	musts := make([]keySet, len(c.b.outlets()))
	for i := range have {
		have[i] = keySet{}
	}
	for i := range musts {
		musts[i] = keySet{}
	}
	for key := range s.writes {
		written := c.written(key, kids)
		for i, k := range c.kids {
			if c.without(k.fires, written[k.at]) == never {
				have[i][key] = true
			}
		}
		for i, o := range c.b.outlets() {
			leaves := c.without(always, c.exits)
			if o.exit {
				leaves = c.exits
			}
			if c.without(leaves, written[len(c.steps)-1]) == never {
				musts[i][key] = true
			}
		}
	}
	for i := range kids {
		s.lacking(kids[i], have[i])
	}
	s.must = musts
	return s
}
