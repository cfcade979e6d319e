package explore

import (
	"math"
	"math/bits"
	"slices"
)

// MarkingSet is a set of markings with indices: packed arrays of words, one after the other, and an
// open hash table of indices into them. A count takes one byte until some count needs more, then
// four. It is safe for concurrent reads.
type MarkingSet struct {
	slots  int
	each   int      // counts in a word: 8 or 2
	stride int      // words of a marking
	words  []uint64 // of all markings
	count  int
	table  []uint64 // the upper half of a hash, and below it index + 1; 0 is free
	shift  int      // from a hash to its place in the table
	mix    []uint64
	row    []uint64 // the marking that is added
}

// NewMarkingSet makes an empty set of markings with a number of slots.
func NewMarkingSet(slots int) *MarkingSet {
	s := &MarkingSet{slots: slots, table: make([]uint64, 1<<10), shift: 64 - 10}
	x := uint64(0x9e3779b97f4a7c15)
	for range (slots + 1) / 2 {
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		s.mix = append(s.mix, z^z>>31|1)
	}
	s.layOut(8)
	return s
}

// layOut sets how many counts are in a word.
func (s *MarkingSet) layOut(each int) {
	s.each, s.stride = each, (s.slots+each-1)/each
	s.row = make([]uint64, s.stride)
}

// MaxMarkings is the most markings one set can hold.
const MaxMarkings = math.MaxUint32 - 1

// Len is the number of markings.
func (s *MarkingSet) Len() int { return s.count }

// hash folds the product of each word with a number of its own. Its lower half is 0.
func (s *MarkingSet) hash(row []uint64) uint64 {
	var h uint64
	mix := s.mix[:len(row)]
	for i, w := range row {
		hi, lo := bits.Mul64(w^mix[i], mix[i]<<32|mix[i]>>32)
		h += hi ^ lo
	}
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	return (h ^ h>>32) &^ math.MaxUint32
}

// Add returns the index of a marking, and whether it is new.
func (s *MarkingSet) Add(m []int32) (uint32, bool) {
	if !s.pack(m, s.row) {
		s.widen()
		s.pack(m, s.row)
	}
	return s.add(s.row, s.hash(s.row))
}

// add is Add for a packed marking and its hash.
func (s *MarkingSet) add(row []uint64, h uint64) (uint32, bool) {
	at, found := s.seek(row, h)
	if found {
		return uint32(s.table[at]) - 1, false
	}
	s.count++
	s.table[at] = h | uint64(s.count)
	s.words = append(grow(s.words, s.stride), row...)
	if 4*s.count > 3*len(s.table) {
		s.grow()
	}
	return uint32(s.count - 1), true
}

// seek returns the position of a marking in the table, or the position where it belongs.
func (s *MarkingSet) seek(row []uint64, h uint64) (at uint64, found bool) {
	mask := uint64(len(s.table) - 1)
	for at = h >> s.shift; ; at = (at + 1) & mask {
		e := s.table[at]
		if e == 0 {
			return at, false
		}
		if e&^math.MaxUint32 == h && slices.Equal(s.at(uint32(e)-1), row) {
			return at, true
		}
	}
}

// at is marking i, packed.
func (s *MarkingSet) at(i uint32) []uint64 { return s.words[int(i)*s.stride:][:s.stride] }

// Find returns the index of a marking, or false.
func (s *MarkingSet) Find(m []int32) (uint32, bool) {
	var short [32]uint64
	row := short[:]
	if s.stride > len(short) {
		row = make([]uint64, s.stride)
	}
	row = row[:s.stride]
	if !s.pack(m, row) {
		return 0, false
	}
	at, found := s.seek(row, s.hash(row))
	if !found {
		return 0, false
	}
	return uint32(s.table[at]) - 1, true
}

// pack writes a marking to a row. It reports whether each count fits.
func (s *MarkingSet) pack(m []int32, row []uint64) bool {
	if s.each == 2 {
		for i := range row {
			row[i] = uint64(uint32(m[2*i]))
			if 2*i+1 < len(m) {
				row[i] |= uint64(uint32(m[2*i+1])) << 32
			}
		}
		return true
	}
	var all int32
	for i := range row {
		var w uint64
		part := m[8*i : min(8*i+8, len(m))]
		for j, n := range part {
			all |= n
			w |= uint64(uint8(n)) << (8 * j)
		}
		row[i] = w
	}
	return uint32(all) <= math.MaxUint8
}

// Get writes marking i to m.
func (s *MarkingSet) Get(i int, m []int32) {
	m = m[:s.slots]
	for k, w := range s.at(uint32(i)) {
		part := m[s.each*k : min(s.each*(k+1), len(m))]
		if s.each == 8 {
			for j := range part {
				part[j] = int32(uint8(w))
				w >>= 8
			}
			continue
		}
		for j := range part {
			part[j] = int32(uint32(w))
			w >>= 32
		}
	}
}

// widen packs all markings anew, with more space for each count.
func (s *MarkingSet) widen() {
	old := *s
	s.layOut(2)
	s.words = make([]uint64, 0, (s.count+1)*s.stride)
	m := make([]int32, s.slots)
	for i := range s.count {
		old.Get(i, m)
		s.pack(m, s.row)
		s.words = append(s.words, s.row...)
	}
	clear(s.table)
	for i := range s.count {
		s.enter(s.hash(s.at(uint32(i))), uint64(i+1))
	}
}

// enter puts a marking into the table that is not in it yet.
func (s *MarkingSet) enter(h, number uint64) {
	mask := uint64(len(s.table) - 1)
	at := h >> s.shift
	for s.table[at] != 0 {
		at = (at + 1) & mask
	}
	s.table[at] = h | number
}

// grow doubles the table. The position of a marking depends only on the upper half of its hash,
// which the table keeps.
func (s *MarkingSet) grow() {
	old := s.table
	s.table = make([]uint64, 2*len(old))
	s.shift--
	for _, e := range old {
		if e != 0 {
			s.enter(e&^math.MaxUint32, e&math.MaxUint32)
		}
	}
}
