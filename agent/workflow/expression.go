package workflow

import (
	"errors"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/agent/workflow/expr"
)

// checkExpression finds what is wrong with the expression of an expr agent, at its place in the file.
func (l *loader) checkExpression(w *Workflow, a *Agent) {
	if a.Type != exprType || a.Expression == "" {
		return
	}
	var keys []string
	for _, r := range a.reads {
		keys = append(keys, Input{Key: r.key}.Name())
	}
	_, err := expr.Compile(a.Expression, keys)
	var bad *expr.Error
	if !errors.As(err, &bad) {
		return
	}
	if bad.Unknown != "" {
		bad.Message += "; what it reads must be in input_keys"
	}
	l.add(BadValue, w.inside(a.posOf("expression"), a.Expression, bad.Line, bad.Column), "the expression of `%s`: %s",
		a.Name, bad.Message)
}

// inside is the position in the file of a position in a text that begins at from. It is from where the file does
// not have the text as it is, such as with escapes.
func (w *Workflow) inside(from Pos, text string, line, column int) Pos {
	lines := strings.Split(text, "\n")
	if line > len(lines) {
		return from
	}
	words := lines[line-1]
	at := w.finder(&yaml.Node{Line: from.Line, Column: from.Column, Value: text}).next(words)
	if found := w.source[at.Line-1]; !strings.HasPrefix(found[min(at.Column-1, len(found)):], words) {
		return from
	}
	at.Column += column - 1
	return at
}
