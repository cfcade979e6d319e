package check

import (
	"encoding/binary"
	"slices"
)

// columns lays out markings, each written as variable-length integers, place by place: the counts
// of the first slot in every marking, then those of the second. It sorts the markings first.
// Neighbours then differ little and columns repeat themselves, so the list deflates to a twentieth
// of the size that it would have otherwise.
func columns(rows []string, slots int) []byte {
	slices.Sort(rows)
	size := 0
	for _, r := range rows {
		size += len(r)
	}
	at, out := make([]int, len(rows)), make([]byte, 0, size)
	for range slots {
		for i, r := range rows {
			end := at[i]
			for r[end] >= 0x80 {
				end++
			}
			out = append(out, r[at[i]:end+1]...)
			at[i] = end + 1
		}
	}
	return out
}

// rowsOf is the inverse of columns except for the order of the rows: the markings one after the
// other; nil if the list does not hold that many.
func rowsOf(list []byte, slots, count int) []byte {
	starts, at := make([]int, 0, slots), 0
	for range slots {
		starts = append(starts, at)
		for range count {
			_, n := binary.Uvarint(list[at:])
			if n <= 0 {
				return nil
			}
			at += n
		}
	}
	if at != len(list) {
		return nil
	}
	out := make([]byte, 0, len(list))
	for range count {
		for s := range starts {
			_, n := binary.Uvarint(list[starts[s]:])
			out = append(out, list[starts[s]:starts[s]+n]...)
			starts[s] += n
		}
	}
	return out
}
