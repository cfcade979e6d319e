package provider

import (
	"bufio"
	"bytes"
	"io"
)

// frameFunc takes one frame of a stream: the name of its event, if it has one, and its data. It returns
// true after the last frame of a response.
type frameFunc func(event string, data []byte) (done bool, err error)

// lineScanner reads lines of at most max bytes.
func lineScanner(r io.Reader, max int) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, min(4096, max)), max+2) // with the line's end
	return s
}

// scanError is the error of a scanner: a line that is too long, because a body has no error of its own.
func scanError(s *bufio.Scanner, max int) error {
	if s.Err() == nil {
		return nil
	}
	return newError(TooLong, "a line of the response has more than %d bytes", max)
}

// readEvents reads server-sent events (the WHATWG's HTML standard, section 9.2.6) until the last frame
// or the end. An event that the end cuts off is dropped.
func readEvents(r io.Reader, lineMax int, f frameFunc) error {
	s := lineScanner(r, lineMax)
	event, data, some := "", []byte(nil), false
	for s.Scan() {
		line := bytes.TrimSuffix(s.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if some {
				if done, err := f(event, data); done || err != nil {
					return err
				}
			}
			event, data, some = "", data[:0], false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			event = string(value)
		case "data":
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, value...), true
		}
	}
	return scanError(s, lineMax)
}

// readLines reads a stream of JSON objects, one a line, until the last frame or the end.
func readLines(r io.Reader, lineMax int, f frameFunc) error {
	s := lineScanner(r, lineMax)
	for s.Scan() {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		if done, err := f("", line); done || err != nil {
			return err
		}
	}
	return scanError(s, lineMax)
}
