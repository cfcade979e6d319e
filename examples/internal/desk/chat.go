package desk

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent"
)

// lineMax is the longest line of a guest, in characters.
const lineMax = 4000

// Chat runs a turn for each line of in, and writes what the agents say and do to out. It returns at the
// end of in, or when ctx ends. A turn that fails is told, and the chat goes on.
func Chat(ctx context.Context, prog *agent.Program, in io.Reader, out io.Writer) (err error) {
	s, err := agent.Start(prog, agent.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c := &chat{session: s, out: out}
	lines := bufio.NewReader(in)
	for ctx.Err() == nil {
		line, size, err := readLine(lines)
		switch text := strings.TrimSpace(line); {
		case size > lineMax:
			fmt.Fprintf(out, "desk: the line has %d characters; at most %d are allowed\n", size, lineMax)
		case text != "":
			c.turn(ctx, text)
		case err == nil:
			fmt.Fprintln(out, "desk: say something, or end the input")
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("desk: read a line: %w", err)
		}
	}
	return nil
}

// readLine reads a line and returns its first lineMax characters at least, and how many it has. It
// keeps no more than a few times lineMax bytes.
func readLine(r *bufio.Reader) (line string, size int, err error) {
	var b strings.Builder
	for {
		var c rune
		if c, _, err = r.ReadRune(); err != nil || c == '\n' {
			return b.String(), size, err
		}
		if size++; size <= lineMax {
			b.WriteRune(c)
		}
	}
}

// chat is one guest's session.
type chat struct {
	session *agent.Session
	out     io.Writer
	turns   int
	history []*genai.Content
}

func (c *chat) turn(ctx context.Context, text string) {
	c.turns++
	_, err := c.session.Run(ctx, &agent.Turn{
		ID:      fmt.Sprint("turn-", c.turns),
		Message: genai.NewContentFromText(text, genai.RoleUser),
		History: func() []*genai.Content { return slices.Clone(c.history) },
		Emit:    c.emit,
	})
	var fault *agent.Fault
	if err != nil && !errors.As(err, &fault) { // an event has told the fault
		fmt.Fprintf(c.out, "desk: %v\n", err)
	}
}

// emit keeps what is to be stored, and writes what agents say and do.
func (c *chat) emit(ev *session.Event, kind agent.EventKind) error {
	if ev.ErrorCode != "" {
		fmt.Fprintf(c.out, "desk: %s\n", ev.ErrorMessage)
	}
	if ev.Content == nil || !kind.Stored() {
		return nil
	}
	c.history = append(c.history, ev.Content)
	for _, p := range ev.Content.Parts {
		switch {
		case p.FunctionCall != nil:
			fmt.Fprintf(c.out, "  %s calls %s\n", ev.Author, callText(p.FunctionCall))
		case p.Text != "" && ev.Author != "user":
			fmt.Fprintf(c.out, "%s: %s\n", ev.Author, p.Text)
		}
	}
	return nil
}

// callText is a call as text.
func callText(call *genai.FunctionCall) string {
	if len(call.Args) == 0 {
		return call.Name
	}
	args, err := json.Marshal(call.Args)
	if err != nil {
		return call.Name + ": " + err.Error()
	}
	return call.Name + " " + string(args)
}
