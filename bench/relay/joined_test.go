package relay

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
)

// counted counts writes.
type counted struct {
	net.Conn
	writes *atomic.Int32
}

func (c counted) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// TestJoined writes a row of messages at once, and later ones by themselves.
func TestJoined(t *testing.T) {
	t.Parallel()
	var writes atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, j, err := accept(w, r)
		if err != nil {
			t.Error(err)
			return
		}
		j.Conn = counted{j.Conn, &writes}
		for _, row := range []string{"abc", "d"} {
			if err := j.write(c, websocket.MessageText, [][]byte{[]byte(row[:1]), []byte(row[1:]), nil}); err != nil {
				t.Error(err)
			}
		}
		_ = c.CloseNow()
	}))
	defer s.Close()
	c, _, err := websocket.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.CloseNow() }()
	for _, want := range []string{"a", "bc", "", "d", "", ""} {
		if _, got, err := c.Read(t.Context()); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if n := writes.Load(); n != 2 {
		t.Errorf("two rows took %d writes", n)
	}
}
