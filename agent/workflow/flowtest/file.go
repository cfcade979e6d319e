package flowtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/internal/spelling"
)

// FileMax is how many bytes a file of tests has at most.
const FileMax = 1 << 20

const casesMax = 1000 // tests of a file

// File is a file of tests.
type File struct {
	Name  string
	Tests []Case `yaml:"tests"`
}

// Case is one test: one run, or several of one session.
type Case struct {
	Name    string `yaml:"name"`
	Message string `yaml:"message"`
	// Answers are what the models of llm agents answer, by agent, in order.
	Answers map[string][]Answer `yaml:"answers"`
	// Tools are the results of tools, by name, in order; the last one is that of all further calls, too.
	Tools  map[string][]any `yaml:"tools"`
	Expect Expect           `yaml:"expect"`
}

// Answer is an answer of a model: in the file a text, or a mapping.
type Answer struct {
	Text  string `yaml:"text"`
	Calls []Call `yaml:"calls"`
	Error string `yaml:"error"` // the model fails
}

// Call is a call of a tool in an Answer.
type Call struct {
	Name string         `yaml:"name"`
	Args map[string]any `yaml:"args"`
}

// Expect is what a test expects. What is not set is not compared.
type Expect struct {
	Answer   *string        `yaml:"answer"`
	Contains []string       `yaml:"contains"` // in the answer
	State    map[string]any `yaml:"state"`    // the last outputs of agents, by output_key; others may be there
	Events   []string       `yaml:"events"`   // the messages of agents, in order: "draft: Hello"
	Error    string         `yaml:"error"`    // in the reason why the run fails; "": it must not fail
}

// UnmarshalYAML reads a text or a mapping.
func (a *Answer) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&a.Text)
	}
	type plain Answer
	return n.Decode((*plain)(a))
}

// Parse reads a file of at most 1 MiB and 1000 tests. Its error names the line of what is wrong.
func Parse(name string, text []byte) (*File, error) {
	f := &File{Name: name}
	if err := f.parse(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func (f *File) parse(text []byte) error {
	if len(text) > FileMax {
		return fmt.Errorf("it has more than %d bytes; make it smaller", FileMax)
	}
	var n yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&n); errors.Is(err, io.EOF) {
		return errors.New("it is empty; write tests: [{name: ..., message: ..., expect: {answer: ...}}]")
	} else if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := check(n.Content[0]); err != nil {
		return err
	}
	if err := n.Decode(f); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(f.Tests) == 0 || len(f.Tests) > casesMax {
		return fmt.Errorf("it has %d tests; it must have 1 to %d", len(f.Tests), casesMax)
	}
	seen := map[string]bool{}
	for i, c := range f.Tests {
		switch {
		case c.Name == "":
			return fmt.Errorf("test %d has no name", i+1)
		case seen[c.Name]:
			return fmt.Errorf("two tests are called %q", c.Name)
		case c.Message == "":
			return fmt.Errorf("the test %q has no message", c.Name)
		}
		seen[c.Name] = true
		for agent, list := range c.Answers {
			for k, a := range list {
				if slices.ContainsFunc(a.Calls, func(c Call) bool { return c.Name == "" }) {
					return fmt.Errorf("the test %q: a call in answer %d of `%s` has no name", c.Name, k+1, agent)
				}
			}
		}
		for tool, list := range c.Tools {
			if len(list) == 0 {
				return fmt.Errorf("the test %q: the tool %s has no results", c.Name, tool)
			}
		}
	}
	return nil
}

// check finds keys that the format does not have.
func check(file *yaml.Node) error {
	tests, err := keys(file, "the file", "tests")
	if err != nil {
		return err
	}
	for _, t := range items(tests["tests"]) {
		one, err := keys(t, "a test", "name", "message", "answers", "tools", "expect")
		if err != nil {
			return err
		}
		if _, err := keys(one["expect"], "expect", "answer", "contains", "state", "events", "error"); err != nil {
			return err
		}
		answers, err := keys(one["answers"], "answers")
		if err != nil {
			return err
		}
		for _, list := range answers {
			if err := checkAnswers(items(list)); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkAnswers(list []*yaml.Node) error {
	for _, a := range list {
		if a.Kind == yaml.ScalarNode {
			continue
		}
		one, err := keys(a, "an answer", "text", "calls", "error")
		if err != nil {
			return err
		}
		for _, c := range items(one["calls"]) {
			if _, err := keys(c, "a call", "name", "args"); err != nil {
				return err
			}
		}
	}
	return nil
}

// keys are the values of a mapping, by key. It refuses keys that are not known; without known ones it takes all.
func keys(n *yaml.Node, what string, known ...string) (map[string]*yaml.Node, error) {
	if n == nil {
		return nil, nil
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: %s must be a mapping", n.Line, what)
	}
	values := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if len(known) > 0 && !slices.Contains(known, key.Value) {
			hint := "; the keys are: " + strings.Join(known, ", ")
			if near := spelling.Nearest(key.Value, known); near != "" {
				hint = "; did you mean `" + near + "`?"
			}
			return nil, fmt.Errorf("line %d: `%.80s` is no key of %s%s", key.Line, key.Value, what, hint)
		}
		values[key.Value] = n.Content[i+1]
	}
	return values, nil
}

// items are those of a list.
func items(n *yaml.Node) []*yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil || n.Kind != yaml.SequenceNode {
		return nil // decoding tells what is wrong
	}
	return n.Content
}
