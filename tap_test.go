package voicegw_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
)

// tap is the socket of a phone: it sees the close code, sends what no client would, and breaks the
// line.
type tap struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	writing sync.Mutex // held while a frame is written, which may last
	conn    net.Conn

	mu sync.Mutex
	in []byte // all that came
}

// tapped is the connection as the client sees it.
type tapped struct {
	net.Conn
	tap *tap
}

func (t *tap) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := t.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	t.conn = c
	return &tapped{c, t}, nil
}

func (c *tapped) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.tap.mu.Lock()
	defer c.tap.mu.Unlock()
	c.tap.in = append(c.tap.in, b[:n]...)
	return n, err
}

func (c *tapped) Write(b []byte) (int, error) {
	c.tap.writing.Lock()
	defer c.tap.writing.Unlock()
	return c.Conn.Write(b)
}

// Opcodes of RFC 6455 section 5.2.
const (
	opText   = 1
	opBinary = 2
	opClose  = 8
)

// raw sends a frame as it is, with a mask of zeros.
func (t *tap) raw(opcode byte, payload []byte) error {
	frame := []byte{0x80 | opcode, 0x80 | 127, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint64(frame[2:], uint64(len(payload)))
	t.writing.Lock()
	defer t.writing.Unlock()
	_, err := t.conn.Write(append(frame, payload...))
	return err
}

// cut breaks the line without a word.
func (t *tap) cut() { _ = t.conn.Close() }

// closeCode is the code of the close frame that came, 0 for none.
func (t *tap) closeCode() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, rest, _ := bytes.Cut(t.in, []byte("\r\n\r\n"))
	for len(rest) >= 2 {
		opcode, n, header := rest[0]&15, int(rest[1]), 2
		switch {
		case n == 126 && len(rest) >= 4:
			n, header = int(binary.BigEndian.Uint16(rest[2:])), 4
		case n == 127 && len(rest) >= 10:
			n, header = int(binary.BigEndian.Uint64(rest[2:])), 10
		}
		if len(rest) < header+n {
			return 0
		}
		if opcode == opClose && n >= 2 {
			return int(binary.BigEndian.Uint16(rest[header:]))
		}
		rest = rest[header+n:]
	}
	return 0
}

// line joins words as fmt.Sprintln does.
func line(words ...any) string { return fmt.Sprintln(words...) }
