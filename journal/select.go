package journal

import (
	"slices"
	"strings"
)

// Select is List for an engine that knows all its keys: it picks those that a query asks for, in its order,
// and gets their documents. A document that get does not find is left out.
func Select(keys []string, q Query, get func(key string) (Doc, bool)) []Doc {
	keys = slices.DeleteFunc(keys, func(k string) bool {
		return !strings.HasPrefix(k, q.Prefix) || q.After != "" && (!q.Reverse && k <= q.After || q.Reverse && k >= q.After)
	})
	slices.Sort(keys)
	if q.Reverse {
		slices.Reverse(keys)
	}
	limit := q.Limit
	if limit <= 0 || limit > ListMax {
		limit = ListMax
	}
	var list []Doc
	for _, k := range keys {
		if len(list) == limit {
			break
		}
		if d, ok := get(k); ok {
			list = append(list, d)
		}
	}
	return list
}
