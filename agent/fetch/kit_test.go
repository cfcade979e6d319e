package fetch

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// target is a server on loopback that counts who reaches it.
type target struct {
	*httptest.Server
	hits atomic.Int32
}

func newTarget(t *testing.T, h http.HandlerFunc) *target {
	t.Helper()
	s := &target{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		if h != nil {
			h(w, r)
		}
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) { // a connection without a request is one too many
		if state == http.StateNew && h == nil {
			s.hits.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *target) port() string { return s.URL[strings.LastIndexByte(s.URL, ':')+1:] }

func newClient(t *testing.T, cfg Config) *Client {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.transport.CloseIdleConnections)
	return c
}

// names is a DNS server: for each question it says what addresses the name has at that time, none if nil.
func names(t *testing.T, answer func(name string) []netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = conn.Close(); <-done })
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(dnsAnswer(buf[:n], answer), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// dnsAnswer makes the response to a query with one question (RFC 1035 section 4).
func dnsAnswer(q []byte, answer func(name string) []netip.Addr) []byte {
	var labels []string
	end := 12
	for q[end] != 0 {
		labels = append(labels, string(q[end+1:end+1+int(q[end])]))
		end += 1 + int(q[end])
	}
	end += 5
	kind := binary.BigEndian.Uint16(q[end-4:])
	out := append([]byte{}, q[:end]...)
	out[2], out[3] = 0x85, 0x80 // an authoritative response
	list := answer(strings.ToLower(strings.Join(labels, ".")))
	if list == nil {
		out[3] |= 3 // no such name
	}
	count := uint16(0)
	for _, a := range list {
		if (kind == 1) != a.Is4() || kind != 1 && kind != 28 {
			continue
		}
		count++
		out = append(out, 0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(a.BitLen()/8))
		out = append(out, a.AsSlice()...)
	}
	binary.BigEndian.PutUint16(out[6:], count)
	binary.BigEndian.PutUint32(out[8:], 0)
	return out
}
