package workflow

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// nameRule is what names of agents look like, and keyRule names of state keys. A prefix says how long a key
// lasts: temp: for the run, as a key without one; user: and app: beyond it.
var (
	nameRule = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	keyRule  = regexp.MustCompile(`^(?:(?:user|app|temp):)?[A-Za-z_][A-Za-z0-9_]{0,63}$`)
)

const keyWords = "it begins with a letter and has up to 64 letters, digits and \"_\"; user:, app: or temp: may stand " +
	"before it"

// lasting reports whether a state key lasts beyond the run, so that it may be there at its start, or not.
func lasting(key string) bool {
	return strings.HasPrefix(key, "user:") || strings.HasPrefix(key, "app:")
}

// object checks a value against the table of an object and reports whether it can be read on.
func (l *loader) object(of string, n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		l.wrong(n, "%s", "it must be a mapping of keys to values, not "+describe(n))
		return false
	}
	fields := l.format[of]
	typ := l.typeOf(of, n)
	seen := map[string]*yaml.Node{}
	pairs(n, func(k, v *yaml.Node) {
		if old := seen[k.Value]; old != nil {
			l.add(Duplicate, at(k), "`%s` is given twice; line %d has it, too", k.Value, old.Line)
			l.bad[v] = true
			return
		}
		seen[k.Value] = k
		l.field(of, typ, fields, k, v)
	})
	for i := range fields {
		f := &fields[i]
		if f.required && seen[f.key] == nil && (f.types == nil || typ != "" && f.has(typ)) {
			l.add(Missing, at(n), "%s has no `%s`: %s", subject(of, typ, n), f.key, f.doc)
		}
	}
	return true
}

// typeOf is the type of an object that has one.
func (l *loader) typeOf(of string, n *yaml.Node) (typ string) {
	i := slices.IndexFunc(l.format[of], func(f field) bool { return f.key == "type" })
	if i < 0 {
		return ""
	}
	pairs(n, func(k, v *yaml.Node) {
		if k.Value == "type" && slices.Contains(l.format[of][i].enum, v.Value) {
			typ = v.Value
		}
	})
	return typ
}

// subject is the object in words.
func subject(of, typ string, n *yaml.Node) string {
	words := strings.TrimSpace(strings.Join([]string{"the", typ, of}, " "))
	words = strings.ReplaceAll(words, "  ", " ")
	pairs(n, func(k, v *yaml.Node) {
		if of == "agent" && k.Value == "name" && v.Value != "" {
			words += fmt.Sprintf(" `%s`", v.Value)
		}
	})
	return words
}

// field checks one key of an object and its value.
func (l *loader) field(of, typ string, fields []field, k, v *yaml.Node) {
	var known []string
	for i := range fields {
		f := &fields[i]
		if f.key == k.Value {
			switch {
			case f.kind == retired:
				l.add(Unsupports, at(k), "`%s`: %s", f.key, f.doc)
				l.bad[v] = true
			case typ != "" && !f.has(typ):
				l.add(UnknownKey, at(k), "`%s` has no meaning in %s %s; only %s", f.key, article(typ), of, typesWords(f.types))
				l.bad[v] = true
			default:
				l.value(f, v)
			}
			return
		}
		if f.kind != retired && f.has(typ) {
			known = append(known, f.key)
		}
	}
	l.bad[v] = true
	if k.Value == "<<" {
		l.add(UnknownKey, at(k), "merge keys (<<) are not supported; repeat the keys, or use an alias for a whole value")
		return
	}
	if near := l.nearest(k.Value, known); near != "" {
		l.add(UnknownKey, at(k), "`%s` is no key of %s; did you mean `%s`?", k.Value, article(of), near)
		return
	}
	l.add(UnknownKey, at(k), "`%s` is no key of %s; the keys are: %s", k.Value, article(of), strings.Join(known, ", "))
}

// typesWords are the types that have a key.
func typesWords(types []string) string {
	if len(types) == 1 {
		return "the type " + types[0] + " has it"
	}
	return "the types " + strings.Join(types, ", ") + " have it"
}

func article(of string) string {
	if strings.ContainsAny(of[:1], "aeiolm") && of != "loop" { // l and m begin llm and mcp
		return "an " + of
	}
	return "a " + of
}

// wrong reports a value that cannot be used.
func (l *loader) wrong(v *yaml.Node, format string, args ...any) {
	l.bad[v] = true
	l.add(BadValue, at(v), format, args...)
}

// describe is a value in words.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	case n.Tag == "!!str":
		return strconv.Quote(n.Value)
	default:
		return n.Value
	}
}

// value checks a value against its field.
func (l *loader) value(f *field, v *yaml.Node) {
	if v.Tag == "!!null" && !f.required {
		return
	}
	switch {
	case f.kind == confirming && v.Kind != yaml.SequenceNode:
		if v.Tag != "!!bool" {
			l.wrong(v, "`%s` must be true, or a list of tools as in `tools`, not %s", f.key, describe(v))
		}
	case f.lists():
		l.listed(f, v)
	case f.kind == object:
		if !l.object(f.of, v) {
			l.bad[v] = true
		}
	case f.kind == anyMap, f.kind == schema:
		if v.Kind != yaml.MappingNode {
			l.wrong(v, "`%s` must be a mapping, not %s", f.key, describe(v))
		}
	case f.kind == texts:
		l.textMap(f, v)
	case bare(v) != "":
		l.wrong(v, "`%s`: {%s} without quotes is a mapping in YAML; write \"{%[2]s}\"", f.key, bare(v))
	case v.Kind != yaml.ScalarNode:
		l.wrong(v, "`%s` must be %s, not %s", f.key, scalarWords(f), describe(v))
	default:
		l.scalar(f, v)
	}
}

// scalarWords says what a scalar field wants.
func scalarWords(f *field) string {
	switch f.kind {
	case number:
		return "a number"
	case whole:
		return "a whole number"
	case yesNo:
		return "true or false"
	case duration:
		return "a time such as 30s"
	case ref:
		return "the name of an agent"
	}
	return "text"
}

func (l *loader) textMap(f *field, v *yaml.Node) {
	if v.Kind != yaml.MappingNode {
		l.wrong(v, "`%s` must be a mapping of names to texts, not %s", f.key, describe(v))
		return
	}
	seen := map[string]bool{}
	pairs(v, func(k, one *yaml.Node) {
		if seen[k.Value] {
			l.add(Duplicate, at(k), "`%s` is given twice", k.Value)
		}
		seen[k.Value] = true
		if one.Kind != yaml.ScalarNode || one.Tag == "!!null" {
			l.wrong(one, "`%s` must be text, not %s", k.Value, describe(one))
			return
		}
		if f.key == "when" && (strings.TrimSpace(one.Value) != one.Value ||
			!slices.Contains([]string{"!!str", "!!bool", "!!int"}, one.Tag)) {
			l.wrong(one, "no output is %s: outputs are compared as texts, without space around them; write %q", describe(one),
				strings.TrimSpace(one.Value))
		}
	})
}

// listed checks a list.
func (l *loader) listed(f *field, v *yaml.Node) {
	before := len(l.findings.list)
	defer func() { l.lost = l.lost || f.kind == refs && len(l.findings.list) > before }()
	switch {
	case v.Kind != yaml.SequenceNode:
		l.wrong(v, "`%s` must be a list, not %s", f.key, describe(v))
		return
	case len(v.Content) < int(f.min):
		l.wrong(v, "`%s` is empty; it needs at least %d", f.key, int(f.min))
		return
	case f.max > 0 && len(v.Content) > int(f.max):
		l.wrong(v, "`%s` has %d entries; at most %d are allowed", f.key, len(v.Content), int(f.max))
		return
	}
	for _, one := range v.Content {
		switch {
		case f.kind == objects:
			if !l.object(f.of, one) {
				l.bad[one] = true
			}
		case (f.kind == toolList || f.kind == confirming) && one.Kind == yaml.MappingNode:
			l.toolset(f.key, one)
		case one.Kind != yaml.ScalarNode || one.Value == "" || one.Tag == "!!null":
			l.wrong(one, "an entry of `%s` must be text, not %s", f.key, describe(one))
		case f.kind == keys && !keyRule.MatchString(strings.TrimSuffix(one.Value, "?")):
			l.wrong(one, "%q is no name of a state key: "+keyWords+"; \"?\" behind it says that it may be missing", one.Value)
		}
	}
}

// toolset checks a mapping of a toolset to patterns.
func (l *loader) toolset(key string, n *yaml.Node) {
	if len(n.Content) != 2 {
		l.wrong(n, "an entry of `%s` names one toolset, not %d; give each an entry of its own", key, len(n.Content)/2)
		return
	}
	k, v := n.Content[0], n.Content[1]
	ok := v.Kind == yaml.SequenceNode && len(v.Content) > 0
	for _, p := range v.Content {
		ok = ok && p.Kind == yaml.ScalarNode && p.Value != "" && p.Tag != "!!null"
	}
	if !ok {
		l.wrong(n, "the toolset `%s` needs a list of patterns of names, such as [\"get_*\"]", k.Value)
	}
}

// scalar checks a single value.
func (l *loader) scalar(f *field, v *yaml.Node) {
	within := func(x float64) {
		if x < f.min || f.max > 0 && x > f.max {
			l.wrong(v, "`%s` is %s; it must be %v to %v", f.key, v.Value, f.min, f.max)
		}
	}
	if v.Tag == "!!null" { // its text may be "null" or "~"
		l.wrong(v, "`%s` is empty", f.key)
		return
	}
	switch f.kind {
	case whole:
		i, err := strconv.Atoi(v.Value)
		if err != nil || v.Tag != "!!int" {
			l.wrong(v, "`%s` must be a whole number, not %s", f.key, describe(v))
			return
		}
		within(float64(i))
	case number:
		x, err := strconv.ParseFloat(v.Value, 64)
		if err != nil || v.Tag != "!!int" && v.Tag != "!!float" || x != x {
			l.wrong(v, "`%s` must be a number, not %s", f.key, describe(v))
			return
		}
		within(x)
	case yesNo:
		if v.Tag != "!!bool" {
			l.wrong(v, "`%s` must be true or false, not %s", f.key, describe(v))
		}
	case duration:
		if d, err := time.ParseDuration(v.Value); err != nil || d < time.Millisecond || d > timeoutMax {
			l.wrong(v, "`%s` must be a time from 1ms to 24h, such as 30s, not %s", f.key, describe(v))
		}
	case name:
		if !nameRule.MatchString(v.Value) {
			l.wrong(v, "the name %s must begin with a letter and have up to 64 letters, digits, \"_\" and \"-\"", describe(v))
		}
	case stateKey:
		if !keyRule.MatchString(v.Value) {
			l.wrong(v, "`%s` is %s, which is no name of a state key: "+keyWords, f.key, describe(v))
		}
	default:
		l.text(f, v)
	}
}

func (l *loader) text(f *field, v *yaml.Node) {
	switch {
	case v.Value == "":
		l.wrong(v, "`%s` is empty", f.key)
	case f.enum != nil && !slices.Contains(f.enum, v.Value):
		words := "one of " + strings.Join(f.enum, ", ")
		if near := l.nearest(v.Value, f.enum); near != "" {
			words = fmt.Sprintf("one of %s; did you mean `%s`?", strings.Join(f.enum, ", "), near)
		}
		l.wrong(v, "`%s` is %s, and must be %s", f.key, describe(v), words)
	}
}
