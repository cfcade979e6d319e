package api

import (
	"encoding/base64"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/voicegw/voicegw/agent/managed"
)

// pageMax is the most that one page of a list has.
const pageMax = 1000

// query reads the query of a request. Every parameter is read once, and the rest is refused.
type query struct {
	values url.Values
	err    error
}

func (r *request) query() *query {
	values, err := url.ParseQuery(r.URL.RawQuery)
	q := &query{values: values}
	if err != nil {
		q.fail("", "the query of the address is wrong: %v", err)
	}
	q.values.Del("beta") // older clients send it
	return q
}

// take removes a parameter and returns its values. A name with "[]" stands for both spellings of a list.
func (q *query) take(name string) []string {
	list := q.values[name]
	q.values.Del(name)
	if bare, ok := strings.CutSuffix(name, "[]"); ok {
		list = append(list, q.values[bare]...)
		q.values.Del(bare)
	}
	return list
}

func (q *query) one(name string) string {
	list := q.take(name)
	switch len(list) {
	case 0:
		return ""
	case 1:
	default:
		q.fail(name, "it is there %d times", len(list))
	}
	return list[0]
}

func (q *query) fail(param, format string, args ...any) {
	if q.err == nil {
		q.err = refusal(param, format, args...)
	}
}

func (q *query) flag(name string) bool {
	text := q.one(name)
	if text == "" {
		return false
	}
	on, err := strconv.ParseBool(text)
	if err != nil {
		q.fail(name, "%q is neither true nor false", text)
	}
	return on
}

func (q *query) time(name string) time.Time {
	text := q.one(name)
	if text == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		q.fail(name, "%q is no time as 2026-01-02T15:04:05Z", text)
	}
	return t
}

// created reads the four parameters that bound a time. The function it returns tells whether a time is
// within; a nil time is within only if there is no bound.
func (q *query) created() func(*time.Time) bool {
	gt, gte, lt, lte := q.time("created_at[gt]"), q.time("created_at[gte]"), q.time("created_at[lt]"),
		q.time("created_at[lte]")
	return func(t *time.Time) bool {
		if t == nil {
			return gt.IsZero() && gte.IsZero() && lt.IsZero() && lte.IsZero()
		}
		return (gt.IsZero() || t.After(gt)) && (gte.IsZero() || !t.Before(gte)) && (lt.IsZero() || t.Before(lt)) &&
			(lte.IsZero() || !t.After(lte))
	}
}

func (q *query) number(name string, most int) int {
	text := q.one(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		q.fail(name, "%q is no number from 1 to %d", text, most)
	}
	return n
}

// number64 reads the number of an event; "" is 0.
func (q *query) number64(name, text string) uint64 {
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		q.fail(name, "%q is no number of an event", text)
	}
	return n
}

// page reads limit, page and order. descending is the usual order of the list.
func (q *query) page(limit int, descending bool) (p managed.Page, order string) {
	p.Limit = q.number("limit", pageMax)
	if p.Limit == 0 {
		p.Limit = limit
	}
	order = "asc"
	if descending {
		order = "desc"
	}
	if text := q.one("order"); text != "" {
		if order = text; !slices.Contains([]string{"asc", "desc"}, text) {
			q.fail("order", "%q is neither asc nor desc", text)
		}
	}
	p.Reverse = order == "asc"
	if text := q.one("page"); text != "" {
		b, err := base64.RawURLEncoding.DecodeString(text)
		parts := cursor.FindStringSubmatch(string(b))
		switch {
		case err != nil || parts == nil:
			q.fail("page", "%q is no next_page or prev_page of this API", text)
		case parts[1] != order:
			q.fail("page", "it belongs to a list in the order %q; ask in that order", parts[1])
		case parts[2] == ">":
			p.After = parts[3]
		default:
			p.Before = parts[3]
		}
	}
	return p, order
}

// cursor is what next_page and prev_page hold: the order of the list, and behind or before what the page is.
var cursor = regexp.MustCompile(`^(asc|desc)([<>])([0-9A-Za-z_]{1,64})$`)

// pointer is a cursor; nil if there is no such page.
func pointer(order, to, at string) *string {
	if at == "" {
		return nil
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(order + to + at))
	return &text
}

// done returns what is wrong with the query. A parameter that nobody has taken is unknown.
func (q *query) done() error {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		q.fail(name, "this request does not have this parameter")
	}
	return q.err
}

// listed is a page of a list.
func listed[T any](list []T, next, order string) map[string]any {
	if list == nil {
		list = []T{}
	}
	return map[string]any{"data": list, "next_page": pointer(order, ">", next)}
}

// ends is in front of everything and behind everything in a list of ids.
var ends = map[string][2]string{"asc": {"0", "zz"}, "desc": {"zz", "0"}}

// around returns the cursors of the pages before and behind a page of ids that p asked for. more is what its
// list said comes next, in the direction in which it was read.
func around(p managed.Page, order string, ids []string, more string) (prev, next *string) {
	if p.Before == "" {
		if p.After == "" {
			return nil, pointer(order, ">", more)
		}
		ids = append(ids, ends[order][1])
		return pointer(order, "<", ids[0]), pointer(order, ">", more)
	}
	ids = append([]string{ends[order][0]}, ids...)
	return pointer(order, "<", more), pointer(order, ">", ids[len(ids)-1])
}
