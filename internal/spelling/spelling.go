// Package spelling finds the known name that is closest to a misspelled one.
//
//	spelling.Nearest("lisetn", []string{"language", "listen"})                // "listen"
//	spelling.Closest("sales/closd", []string{"sales/open", "sales/closed"}, 1) // ["sales/closed"]
package spelling

import (
	"slices"
	"strings"
)

// lenMax is how many bytes of a name are compared.
const lenMax = 64

// Nearest returns the name with the fewest edits from wrong, the first of several. It returns ""
// if that takes more edits than two and than a third of the letters. Case does not count.
func Nearest(wrong string, names []string) string {
	best, most := "", max(2, min(len(wrong), lenMax)/3)+1
	for _, name := range names {
		if d := edits(wrong, name); d < most {
			best, most = name, d
		}
	}
	return best
}

// Closest returns the n names with the fewest edits from wrong, the closest first and in the order
// of names where edits are equal; all names if there are fewer. The edits of a name with slashes
// are those of all of it or of its last part, whichever are fewer. Case does not count.
func Closest(wrong string, names []string, n int) []string {
	distance := make(map[string]int, len(names))
	for _, name := range names {
		distance[name] = min(edits(wrong, name), edits(wrong, name[strings.LastIndexByte(name, '/')+1:]))
	}
	all := slices.Clone(names)
	slices.SortStableFunc(all, func(a, b string) int { return distance[a] - distance[b] })
	return all[:min(n, len(all))]
}

// edits counts the bytes that must be inserted, deleted, replaced or swapped with their neighbour
// to turn a into b (optimal string alignment). It ignores case, and what
// comes after lenMax bytes.
func edits(a, b string) int {
	a, b = strings.ToLower(a[:min(len(a), lenMax)]), strings.ToLower(b[:min(len(b), lenMax)])
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
