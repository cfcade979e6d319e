package verify

import "math"

// MarkingSet is a set of markings with indices: a packed array and an open hash
// table of indices into it. A count takes one byte until one needs more. It is
// safe for concurrent reads.
type MarkingSet struct {
	slots int
	width int // bytes a count
	data  []byte
	tags  []uint32 // by marking: upper half of its hash
	table []uint32 // index + 1; 0 is free
	mix   []uint64
}

// NewMarkingSet makes an empty set of markings of a length.
func NewMarkingSet(slots int) *MarkingSet {
	s := &MarkingSet{slots: slots, width: 1, table: make([]uint32, 1<<12), mix: make([]uint64, slots)}
	x := uint64(0x9e3779b97f4a7c15)
	for i := range s.mix {
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		s.mix[i] = z ^ z>>31 | 1
	}
	return s
}

// MaxMarkings is the most markings one set can hold.
const MaxMarkings = math.MaxUint32 - 1

// Len is the number of markings.
func (s *MarkingSet) Len() int { return len(s.tags) }

// hash is linear in the counts, then mixed.
func (s *MarkingSet) hash(m []int32) uint64 {
	var h uint64
	for i, n := range m {
		h += uint64(n) * s.mix[i]
	}
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return h ^ h>>32
}

// Add returns the index of a marking, and whether it is new.
func (s *MarkingSet) Add(m []int32) (uint32, bool) {
	h := s.hash(m)
	mask := uint64(len(s.table) - 1)
	tag := uint32(h >> 32)
	at := h & mask
	for ; s.table[at] != 0; at = (at + 1) & mask {
		i := s.table[at] - 1
		if s.tags[i] == tag && s.equal(i, m) {
			return i, false
		}
	}
	i := uint32(len(s.tags))
	s.table[at] = i + 1
	s.tags = append(s.tags, tag)
	s.push(m)
	if 2*len(s.tags) > len(s.table) {
		s.grow()
	}
	return i, true
}

// Find returns the index of a marking, or false.
func (s *MarkingSet) Find(m []int32) (uint32, bool) {
	h := s.hash(m)
	mask := uint64(len(s.table) - 1)
	for at := h & mask; s.table[at] != 0; at = (at + 1) & mask {
		i := s.table[at] - 1
		if s.tags[i] == uint32(h>>32) && s.equal(i, m) {
			return i, true
		}
	}
	return 0, false
}

func (s *MarkingSet) equal(i uint32, m []int32) bool {
	if s.width == 1 {
		row := s.data[int(i)*s.slots:][:len(m)]
		for j, n := range m {
			if int32(row[j]) != n {
				return false
			}
		}
		return true
	}
	row := s.data[int(i)*s.slots*4:]
	for j, n := range m {
		if wide(row[4*j:]) != n {
			return false
		}
	}
	return true
}

func wide(b []byte) int32 { return int32(b[0]) | int32(b[1])<<8 | int32(b[2])<<16 | int32(b[3])<<24 }

func (s *MarkingSet) push(m []int32) {
	if s.width == 1 {
		var all int32
		for _, n := range m {
			all |= n
		}
		if all <= math.MaxUint8 {
			for _, n := range m {
				s.data = append(s.data, byte(n))
			}
			return
		}
		s.widen()
	}
	for _, n := range m {
		s.data = append(s.data, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
}

func (s *MarkingSet) widen() {
	old := s.data
	s.data = make([]byte, 0, 4*len(old)+4*s.slots)
	for _, n := range old {
		s.data = append(s.data, n, 0, 0, 0)
	}
	s.width = 4
}

// Get writes marking i to m.
func (s *MarkingSet) Get(i int, m []int32) {
	row := s.data[i*s.slots*s.width:]
	if s.width == 1 {
		row = row[:len(m)]
		for j := range m {
			m[j] = int32(row[j])
		}
		return
	}
	for j := range m {
		m[j] = wide(row[4*j:])
	}
}

// grow doubles the table. The markings are hashed again: the table keeps only
// half of a hash.
func (s *MarkingSet) grow() {
	s.table = make([]uint32, 2*len(s.table))
	mask := uint64(len(s.table) - 1)
	m := make([]int32, s.slots)
	for i := range s.tags {
		s.Get(i, m)
		at := s.hash(m) & mask
		for s.table[at] != 0 {
			at = (at + 1) & mask
		}
		s.table[at] = uint32(i) + 1
	}
}
