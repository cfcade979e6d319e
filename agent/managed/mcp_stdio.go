package managed

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// messageMax is the largest message of an MCP server, in bytes.
const messageMax = 1 << 20

// link makes what carries the messages of a server.
func (r *Runtime) link(def *MCPServer) (*link, error) {
	if def.Type == "stdio" {
		return r.startServer(def)
	}
	return r.dialServer(def)
}

// startServer starts a server as a process of its own. It gets PATH and the variables of Config.CommandEnv,
// nothing else of the environment.
func (r *Runtime) startServer(def *MCPServer) (*link, error) {
	cmd := exec.Command(def.Command, def.Args...)
	cmd.Env = []string{}
	for _, name := range append([]string{"PATH"}, r.cfg.CommandEnv...) {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	ownGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = theirs
	if err := errors.Join(cmd.Start(), theirs.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("it cannot be started: %w", err), in.Close(), out.Close())
	}
	lines := &lineReader{from: bufio.NewReaderSize(out, 64<<10), close: out.Close}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait()
		killGroup(cmd)                                          // its children go with it
		_ = out.SetReadDeadline(time.Now().Add(stopWithin / 4)) // a stranger may hold the pipe
	}()
	kill := func() {
		select {
		case <-gone: // its number may belong to another process by now
		default:
			killGroup(cmd)
		}
	}
	return &link{Transport: &mcp.IOTransport{Reader: lines, Writer: in}, why: lines.why, kill: kill,
		wait: func() { <-gone }}, nil
}

// lineReader passes on lines that are JSON values of up to messageMax bytes. Anything else breaks it.
type lineReader struct {
	from  *bufio.Reader
	close func() error
	rest  []byte // of the line

	mu     sync.Mutex
	broken error
}

// Read reads from a line. It never returns bytes of two lines.
func (l *lineReader) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			l.rest = append(line, '\n')
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line reads the next line.
func (l *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > messageMax:
			return nil, l.breaks(fmt.Errorf("it sent a message of more than %d bytes", messageMax))
		case err == nil && len(bytes.TrimSpace(line)) > 0 && !json.Valid(line):
			return nil, l.breaks(fmt.Errorf("it sent %.60q, which is no message", line))
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, l.breaks(errGone)
		}
	}
}

// errGone means that the process of a server has ended.
var errGone = errors.New("it has ended")

func (l *lineReader) breaks(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken == nil {
		l.broken = err
	}
	if errors.Is(l.broken, errGone) {
		return io.EOF
	}
	return l.broken
}

// why is why the reader broke; nil if it has not.
func (l *lineReader) why() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// Close ends a Read that waits.
func (l *lineReader) Close() error { return l.close() }
