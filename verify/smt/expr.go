package smt

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/voicegw/voicegw/verify/expr"
)

// reader turns the text of an expression into a term. The text is well formed, because expr.Parse
// has parsed it before.
type reader struct {
	enc  *encoder
	text string
	word string // the token
	name bool   // the token was quoted
	err  error
}

// expression encodes what Never forbids. Names may be parameters.
func (e *encoder) expression(text string) (term, error) {
	x, err := expr.Parse(text)
	if err != nil {
		return term{}, err
	}
	if err := e.model.Unambiguous(x); err != nil {
		return term{}, err
	}
	r := &reader{enc: e, text: x.String()}
	r.next()
	t := r.or()
	return t, r.err
}

func (r *reader) next() {
	r.text = strings.TrimLeft(r.text, " \t\r\n")
	r.name = false
	n := 0
	switch {
	case r.text == "":
	case r.text[0] == '"':
		end := strings.IndexByte(r.text[1:], '"')
		r.word, r.name, r.text = r.text[1:end+1], true, r.text[end+2:]
		return
	default:
		for i, c := range r.text {
			if !nameRune(c) {
				break
			}
			n = i + len(string(c))
		}
		if n == 0 {
			n = signLen(r.text)
		}
	}
	r.word, r.text = r.text[:n], r.text[n:]
}

func nameRune(c rune) bool {
	return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_./-:#@'[],", c)
}

func signLen(s string) int {
	for _, sign := range []string{"&&", "||", "<=", ">=", "==", "!="} {
		if strings.HasPrefix(s, sign) {
			return 2
		}
	}
	return 1
}

func (r *reader) is(word string) bool { return !r.name && r.word == word }

func (r *reader) or() term {
	t := r.and()
	for r.is("||") {
		r.next()
		t = disj(t, r.and())
	}
	return t
}

func (r *reader) and() term {
	t := r.unary()
	for r.is("&&") {
		r.next()
		t = conj(t, r.unary())
	}
	return t
}

func (r *reader) unary() term {
	switch {
	case r.is("!"):
		r.next()
		return negate(r.unary())
	case r.is("("):
		r.next()
		t := r.or()
		r.next()
		return t
	case r.is("true"), r.is("false"):
		t := sym(r.word)
		r.bare()
		return t
	case r.is("dead"):
		r.bare()
		return r.enc.dead()
	case r.is("ended"):
		r.bare()
		return r.enc.ended()
	case r.is("can"):
		return r.can()
	}
	return r.compare()
}

// bare advances past a word, and past its () if it has one.
func (r *reader) bare() {
	if r.next(); r.is("(") {
		r.next()
		r.next()
	}
}

func (r *reader) can() term {
	r.next() // can
	r.next() // (
	name := r.word
	r.next()
	r.next() // )
	x, err := expr.Parse(`can("` + name + `")`)
	if err == nil {
		_, err = r.enc.model.BindExpr(x)
	}
	if err != nil {
		r.fail(err)
		return sym("true")
	}
	ts, err := r.enc.model.Named(name)
	if err != nil {
		r.fail(err)
		return sym("true")
	}
	return r.enc.can(int(ts[0]))
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) compare() term {
	left := r.sum()
	op := r.word
	switch {
	case r.name:
	case op == "==", op == "=":
		r.next()
		return app("=", left, r.sum())
	case op == "!=":
		r.next()
		return app("not", app("=", left, r.sum()))
	case op == "<", op == "<=", op == ">", op == ">=":
		r.next()
		return app(op, left, r.sum())
	}
	return app(">=", left, num(1))
}

func (r *reader) sum() term {
	t := r.term()
	for r.is("+") {
		r.next()
		t = plus(t, r.term())
	}
	return t
}

func (r *reader) term() term {
	n, err := strconv.ParseInt(r.word, 10, 64)
	if r.name || err != nil {
		t := r.count(r.word)
		r.next()
		return t
	}
	r.next()
	if !r.is("*") {
		return num(n)
	}
	r.next()
	t := app("*", num(n), r.count(r.word))
	r.next()
	return t
}

// count is the number of tokens that a name stands for, or a parameter.
func (r *reader) count(name string) term {
	for i, p := range r.enc.params {
		if p.Name == name {
			return paramVar(i)
		}
	}
	slots, err := r.enc.slots(name)
	if err != nil {
		r.fail(err)
		return num(0)
	}
	var ts []term
	for _, s := range slots {
		ts = append(ts, r.enc.use(int32(s)))
	}
	return plus(ts...)
}
