package check

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"
)

// FuzzColumns: what was laid out by columns is read back, in order, and no list is read as more than it is.
func FuzzColumns(f *testing.F) {
	f.Add([]byte{1, 0, 200, 3, 0, 0, 7, 1, 1}, 3)
	f.Fuzz(func(t *testing.T, counts []byte, slots int) {
		if slots < 1 || slots > 64 || len(counts) < slots {
			return
		}
		var rows []string
		for r := range slices.Chunk(counts, slots) {
			var row []byte
			for _, n := range r {
				row = binary.AppendUvarint(row, uint64(n)*3)
			}
			if len(r) == slots {
				rows = append(rows, string(row))
			}
		}
		list := columns(rows, slots)
		var want []byte
		for _, r := range rows { // sorted by now
			want = append(want, r...)
		}
		if got := rowsOf(list, slots, len(rows)); !bytes.Equal(got, want) {
			t.Fatalf("%d rows of %d: %v, want %v", len(rows), slots, got, want)
		}
		if rowsOf(list, slots, len(rows)+1) != nil || rowsOf(list[:len(list)-1], slots, len(rows)) != nil {
			t.Fatal("a list with too few counts is read")
		}
		_ = rowsOf(counts, slots, len(counts)) // any bytes at all
	})
}
