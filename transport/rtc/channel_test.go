package rtc

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// spoolOf is a data channel with messages.
type spoolOf []string

func (s *spoolOf) ReadDataChannel(b []byte) (n int, text bool, err error) {
	if len(*s) == 0 {
		return 0, false, io.EOF
	}
	next := (*s)[0]
	if len(next) <= messageBytesUsual && len(b) > messageBytesUsual {
		return 0, false, errors.New("a short message gets a long buffer")
	}
	if len(next) > len(b) {
		return 0, false, io.ErrShortBuffer
	}
	*s = (*s)[1:]
	return copy(b, next), next != "binary", nil
}

// TestReadMessages reads messages of any length, and none that is too long.
func TestReadMessages(t *testing.T) {
	t.Parallel()
	var sent spoolOf
	for _, n := range []int{0, 1, messageBytesUsual, messageBytesUsual + 1, 7, 20000, EventBytesMax} {
		sent = append(sent, strings.Repeat("x", n))
	}
	sent = append(sent, "binary")
	for _, last := range []string{"", strings.Repeat("y", EventBytesMax+1), strings.Repeat("z", 1<<20)} {
		left, want := append(spoolOf(nil), sent...), error(io.EOF)
		if last != "" {
			left, want = append(left, last), errLongMessage
		}
		var got [][]byte
		err := readMessages(&left, func(data []byte, text bool) {
			if text == (string(data) == "binary") {
				t.Errorf("message %d: it is text: %v", len(got), text)
			}
			got = append(got, data)
		})
		if !errors.Is(err, want) || len(got) != len(sent) {
			t.Fatalf("%d of %d messages, then %v, want %v", len(got), len(sent), err, want)
		}
		for i, m := range got {
			if string(m) != sent[i] {
				t.Errorf("message %d has %d bytes, want %d", i, len(m), len(sent[i]))
			}
		}
	}
}
