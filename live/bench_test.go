package live

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// rawModel is a model that costs next to nothing and allocates nothing: it accepts any setup and
// then sends frame for ever, if there is one, or swallows what comes.
func rawModel(b testing.TB, frame []byte) (url string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		if rawUpgrade(conn) != nil {
			return
		}
		for frame != nil && err == nil {
			_, err = conn.Write(frame)
		}
		_, _ = io.Copy(io.Discard, conn)
	}()
	b.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return "ws://" + listener.Addr().String()
}

// rawUpgrade answers the upgrade request and the setup (RFC 6455 section 4.2.2).
func rawUpgrade(conn net.Conn) error {
	r := bufio.NewReaderSize(conn, 1<<16)
	key := ""
	for line := "x"; line != "\r\n"; {
		var err error
		if line, err = r.ReadString('\n'); err != nil {
			return err
		}
		if len(line) > 19 && line[:19] == "Sec-Websocket-Key: " || len(line) > 19 && line[:19] == "Sec-WebSocket-Key: " {
			key = line[19 : len(line)-2]
		}
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	if err != nil {
		return err
	}
	if _, err := r.Peek(16); err != nil { // the setup has come, whatever it is
		return err
	}
	_, err = conn.Write(textFrame([]byte(`{"setupComplete":{}}`)))
	return err
}

// textFrame is an unmasked text frame.
func textFrame(payload []byte) []byte {
	head := []byte{0x81, byte(len(payload))}
	if len(payload) > 125 {
		head = binary.BigEndian.AppendUint16([]byte{0x81, 126}, uint16(len(payload)))
	}
	return append(head, payload...)
}

func dialRaw(b testing.TB, frame []byte) Conn {
	conn, err := Wire{BaseURL: rawModel(b, frame), CloseTimeout: time.Millisecond}.Dial(context.Background(), Setup{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(1000, "") })
	return conn
}

// BenchmarkSendAudio sends 20 ms over a socket; what it allocates is the WebSocket's.
func BenchmarkSendAudio(b *testing.B) {
	conn := dialRaw(b, nil)
	pcm := noise(320)
	b.ReportAllocs()
	for b.Loop() {
		if err := conn.SendAudio(context.Background(), pcm); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSDK does the same through Google's client.
func BenchmarkSDK(b *testing.B) {
	dial := func(b *testing.B, frame []byte) Conn {
		d := &SDK{Wire: Wire{BaseURL: rawModel(b, frame), APIKey: testKey, SilenceTimeout: 1 << 62}}
		conn, err := d.Dial(context.Background(), Setup{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close(1000, "") })
		return conn
	}
	b.Run("SendAudio", func(b *testing.B) {
		conn := dial(b, nil)
		pcm := noise(320)
		b.ReportAllocs()
		for b.Loop() {
			if err := conn.SendAudio(context.Background(), pcm); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Recv/40ms", func(b *testing.B) {
		conn := dial(b, textFrame(wireAudio(noise(24*40))))
		var m ServerMessage
		b.ReportAllocs()
		for b.Loop() {
			if err := conn.Recv(context.Background(), &m); err != nil || m.Kind != ServerAudio {
				b.Fatal(m.Kind, err)
			}
		}
	})
}

// BenchmarkRecv receives audio over a socket; what it allocates is the WebSocket's.
func BenchmarkRecv(b *testing.B) {
	for _, ms := range []int{40, 100} {
		b.Run(fmt.Sprintf("%dms", ms), func(b *testing.B) {
			conn := dialRaw(b, textFrame(wireAudio(noise(24*ms))))
			var m ServerMessage
			b.ReportAllocs()
			for b.Loop() {
				if err := conn.Recv(context.Background(), &m); err != nil || m.Kind != ServerAudio {
					b.Fatal(m.Kind, err)
				}
			}
		})
	}
}

// TestSocketAllocates bounds what a message costs with the WebSocket: a few small allocations, none
// with its size.
func TestSocketAllocates(t *testing.T) {
	conn := dialRaw(t, nil)
	pcm := noise(1600)
	up := testing.AllocsPerRun(200, func() { _ = conn.SendAudio(context.Background(), pcm) })
	conn = dialRaw(t, textFrame(wireAudio(noise(2400))))
	var m ServerMessage
	down := testing.AllocsPerRun(200, func() { _ = conn.Recv(context.Background(), &m) })
	t.Logf("allocations a message: %v up, %v down", up, down)
	if up > 8 || down > 16 {
		t.Errorf("allocations a message: %v up, %v down; want at most 8 and 16", up, down)
	}
}
