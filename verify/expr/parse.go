package expr

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of an expression.
const (
	maxExprLen   = 1 << 16 // bytes
	maxExprDepth = 200     // parentheses and negations
)

type tokenKind uint8

const (
	endOfText tokenKind = iota
	nameToken
	numberToken
	signToken
)

// parser is a recursive-descent parser of the text of an expression.
type parser struct {
	text  string
	at    int // after the token
	start int // of the token
	kind  tokenKind
	token string
	err   error
	words []string // see Expr

	numbers      []string // of the comparison being read, without factors
	bare, quoted int      // how many places it names
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("verify: parse %q: column %d: %s", shorten(p.text), p.start+1, fmt.Sprintf(format, args...))
	}
	p.kind, p.token = endOfText, ""
}

func shorten(s string) string {
	if len(s) <= 80 {
		return s
	}
	return strings.ToValidUTF8(s[:77], "") + "..."
}

// next reads the next token.
func (p *parser) next() {
	if p.err != nil {
		return
	}
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	p.start = p.at
	if len(p.text) > maxExprLen {
		p.fail("the expression is longer than %d bytes", maxExprLen)
		return
	}
	if p.at == len(p.text) {
		p.kind, p.token = endOfText, "end"
		return
	}
	switch r, _ := utf8.DecodeRuneInString(p.text[p.at:]); {
	case r == '"':
		p.quote()
	case nameRune(r):
		p.word()
	default:
		p.sign()
	}
}

func (p *parser) quote() {
	end := strings.IndexByte(p.text[p.at+1:], '"')
	if end < 0 {
		p.fail("the quote is not closed")
		return
	}
	p.kind, p.token = nameToken, p.text[p.at+1:p.at+1+end]
	p.at += end + 2
}

func (p *parser) word() {
	for p.at < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.at:])
		if !nameRune(r) {
			break
		}
		p.at += n
	}
	p.kind, p.token = nameToken, p.text[p.start:p.at]
	digits := strings.TrimPrefix(p.token, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return
	}
	p.kind = numberToken
	if _, ok := Number(p.token); !ok || digits != p.token {
		p.fail("the number %s: numbers have no sign and at most 18 digits; put a place of that name in quotes",
			shorten(p.token))
	}
}

// isQuoted reports whether the token is a quoted name.
func (p *parser) isQuoted() bool { return p.start < len(p.text) && p.text[p.start] == '"' }

func nameRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_./-:#@'[],", r))
}

func (p *parser) sign() {
	for _, s := range []string{"&&", "||", "<=", ">=", "==", "!=", "<", ">", "=", "!", "(", ")", "+", "*"} {
		if strings.HasPrefix(p.text[p.at:], s) {
			p.kind, p.token = signToken, s
			p.at += len(s)
			return
		}
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.at:])
	p.fail("unexpected character %q", r)
}

func (p *parser) sees(sign string) bool { return p.kind == signToken && p.token == sign }

func (p *parser) expect(sign string) {
	if !p.sees(sign) {
		p.fail("%q expected, not %q", sign, p.token)
		return
	}
	p.next()
}

func (p *parser) or(depth int) Node {
	n := p.and(depth)
	for p.sees("||") {
		p.next()
		n = Pair{Left: n, Right: p.and(depth)}
	}
	return n
}

func (p *parser) and(depth int) Node {
	n := p.unary(depth)
	for p.sees("&&") {
		p.next()
		n = Pair{And: true, Left: n, Right: p.unary(depth)}
	}
	return n
}

func (p *parser) unary(depth int) Node {
	if depth > maxExprDepth {
		p.fail("more than %d levels", maxExprDepth)
		return Const{}
	}
	switch {
	case p.sees("!"):
		p.next()
		return Not{p.unary(depth + 1)}
	case p.sees("("):
		p.next()
		n := p.or(depth + 1)
		p.expect(")")
		return n
	default:
		return p.atom()
	}
}

func (p *parser) atom() Node {
	if p.kind == nameToken && !p.isQuoted() {
		switch word := p.token; word {
		case "true", "false":
			p.wordAlone(word)
			return Const{word == "true"}
		case "dead", "ended":
			p.wordAlone(word)
			return State{word}
		case "can":
			return p.can()
		}
	}
	return p.compare()
}

// wordAlone reads a word without arguments. Without () it may be the name of a place.
func (p *parser) wordAlone(word string) {
	p.next()
	if !p.sees("(") {
		p.words = append(p.words, word)
		return
	}
	p.next()
	p.expect(")")
}

func (p *parser) can() Node {
	p.next()
	p.expect("(")
	name := p.token
	if p.kind != nameToken && p.kind != numberToken {
		p.fail("the name of a transition expected, not %q", p.token)
	}
	p.next()
	p.expect(")")
	return Can{name}
}

func (p *parser) compare() Node {
	p.numbers, p.bare, p.quoted = nil, 0, 0
	c := Compare{Left: p.sum(), Op: p.token}
	if p.kind == signToken {
		switch p.token {
		case "<", "<=", ">", ">=", "==", "!=", "=":
			p.next()
			c.Right = p.sum()
			if p.bare > 0 || p.quoted == 0 { // where place names are quoted, a bare number is a number
				p.words = append(p.words, p.numbers...)
			}
			return c
		}
	}
	if len(c.Left.Terms) == 0 {
		p.fail("a comparison expected after the number")
	}
	c.Op, c.Right = ">=", Sum{Add: 1}
	return c
}

func (p *parser) sum() Sum {
	var s Sum
	p.term(&s)
	for p.sees("+") {
		p.next()
		p.term(&s)
	}
	return s
}

func (p *parser) term(s *Sum) {
	switch p.kind {
	case nameToken:
		p.place(s, 1)
	case numberToken:
		text := p.token
		n, _ := Number(text)
		p.next()
		if p.sees("*") {
			p.next()
			p.place(s, n)
			return
		}
		if n > SumLimit-s.Add {
			p.fail("the numbers of a sum exceed %d", SumLimit)
			return
		}
		s.Add += n
		p.numbers = append(p.numbers, text)
	default:
		p.fail("a place or a number expected, not %q", p.token)
	}
}

// place reads the name of a place, whose count is multiplied by factor.
func (p *parser) place(s *Sum, factor int64) {
	if p.kind != nameToken {
		p.fail("the name of a place expected after *, not %q", p.token)
	}
	if p.isQuoted() {
		p.quoted++
	} else {
		p.bare++
	}
	s.Terms = append(s.Terms, Term{factor, p.token})
	p.next()
}
