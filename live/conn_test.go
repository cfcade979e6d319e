package live

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
)

// talk dials a model whose side is f.
func talk(t *testing.T, w Wire, s Setup, f func(m model)) Conn {
	t.Helper()
	server := httptest.NewServer(serveModel(t, nil, func(m model) {
		m.accept()
		f(m)
	}))
	t.Cleanup(server.Close)
	w.BaseURL = server.URL
	conn, err := w.Dial(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(1000, "") })
	return conn
}

// TestSending sends everything from several goroutines: messages arrive whole, those of one
// goroutine in order.
func TestSending(t *testing.T) {
	received := make(chan []string, 1)
	conn := talk(t, Wire{}, Setup{}, func(m model) {
		messages, _ := m.listen()
		received <- messages
	})
	const senders, each = 4, 50
	var group sync.WaitGroup
	for range senders {
		group.Go(func() {
			for range each {
				err := errors.Join(conn.SendAudio(t.Context(), noise(320)),
					conn.Send(t.Context(), ClientMessage{Kind: ClientText, Text: "x"}))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if err := conn.Send(t.Context(), ClientMessage{Kind: ClientActivityStart}); err != nil {
		t.Error(err)
	}
	if err := conn.Close(1000, ""); err != nil {
		t.Error(err)
	}
	messages := <-received
	if len(messages) != 2*senders*each+1 || messages[len(messages)-1] != `{"realtimeInput":{"activityStart":{}}}` {
		t.Errorf("%d messages, the last is %s", len(messages), messages[len(messages)-1])
	}
	for _, m := range messages {
		if !json.Valid([]byte(m)) {
			t.Fatalf("no JSON: %s", m)
		}
	}
}

// TestLongAudioIsSplit sends two and a half seconds at once, and nothing at all.
func TestLongAudioIsSplit(t *testing.T) {
	received := make(chan []string, 1)
	conn := talk(t, Wire{}, Setup{}, func(m model) {
		messages, _ := m.listen()
		received <- messages
	})
	pcm := noise(2*audioSamplesMax + audioSamplesMax/2)
	if err := conn.Send(t.Context(), ClientMessage{Kind: ClientAudio, PCM: pcm}); err != nil {
		t.Error(err)
	}
	if err := conn.SendAudio(t.Context(), nil); err != nil {
		t.Error(err)
	}
	_ = conn.Close(1000, "")
	var e encoder
	for i, m := range <-received {
		part := pcm[i*audioSamplesMax : min(len(pcm), (i+1)*audioSamplesMax)]
		if m != string(e.audio(part)) {
			t.Errorf("message %d is wrong", i)
		}
	}
}

// TestRefusedMessageHarmsNothing keeps the connection when a message is refused before it is sent.
func TestRefusedMessageHarmsNothing(t *testing.T) {
	conn := talk(t, Wire{}, Setup{Automatic: true}, func(m model) { _, _ = m.listen() })
	if err := conn.Send(t.Context(), ClientMessage{Kind: ClientActivityStart}); !errors.Is(err, errActivity) {
		t.Errorf("error %v", err)
	}
	if err := conn.Send(t.Context(), ClientMessage{Kind: ClientStreamEnd}); err != nil {
		t.Errorf("the connection is gone: %v", err)
	}
}

// TestReceiving reads text and binary frames, one that is split, a broken message, and the close.
func TestReceiving(t *testing.T) {
	conn := talk(t, Wire{}, Setup{}, func(m model) {
		ctx := context.Background()
		_ = m.ws.Write(ctx, websocket.MessageBinary, wireAudio(noise(480)))
		_ = m.send(`{"serverContent":{"turnComplete":true},"usageMetadata":{"totalTokenCount":7}}`)
		_ = m.send(`{"serverContent":`)
		w, _ := m.ws.Writer(ctx, websocket.MessageText)
		for part := range slices.Chunk(wireAudio(noise(40000)), 1000) { // more than readBufferKeep
			_, _ = w.Write(part)
		}
		_ = w.Close()
		_ = m.send(`{"goAway":{"timeLeft":"1s"}}`)
		m.close(1001, "bye")
	})
	var m ServerMessage
	for _, want := range []ServerMessage{
		{Kind: ServerAudio, RateHz: 24000, PCM: noise(480)},
		{Kind: ServerUsage, Usage: Usage{Total: 7}},
		{Kind: ServerTurnComplete},
		{Kind: ServerMalformed, Text: "broken JSON at byte 17 (17 bytes)"},
		{Kind: ServerAudio, RateHz: 24000, PCM: noise(40000)},
		{Kind: ServerGoAway, TimeLeft: time.Second},
	} {
		if err := conn.Recv(t.Context(), &m); err != nil || !equalMessages([]ServerMessage{m}, []ServerMessage{want}) {
			t.Errorf("received %v %.100q, %v; want %v", m.Kind, m.Text, err, want.Kind)
		}
	}
	if n := cap(conn.(*wireConn).buf); n > readBufferKeep {
		t.Errorf("a buffer of %d bytes is kept", n)
	}
	for range 2 {
		wantEnd(t, conn.Recv(t.Context(), &m), ClassEnded, 1001, "bye")
	}
	wantEnd(t, conn.SendAudio(t.Context(), noise(320)), ClassEnded, 1001, "bye")
}

func wantEnd(t *testing.T, err error, class Class, code int, reason string) {
	t.Helper()
	var e *CloseError
	if !errors.As(err, &e) || e.Class != class || e.Code != code || e.Reason != reason {
		t.Errorf("error %v; want class %v, code %d, reason %q", err, class, code, reason)
	}
}

// TestReadLimit ends the connection at a message that is too long.
func TestReadLimit(t *testing.T) {
	conn := talk(t, Wire{ReadLimit: 1000}, Setup{}, func(m model) {
		_ = m.send(`{"serverContent":{"interrupted":true}` + strings.Repeat(" ", 1000) + `}`)
		_, _ = m.listen()
	})
	var m ServerMessage
	err := conn.Recv(t.Context(), &m)
	wantEnd(t, err, ClassBackend, 1009, "")
	if !strings.Contains(err.Error(), "more than 1000 bytes") {
		t.Errorf("error %v", err)
	}
}

// TestClosesMidCall sorts what ends a conversation.
func TestClosesMidCall(t *testing.T) {
	tests := []struct {
		code   int
		reason string
		class  Class
	}{
		{1000, "", ClassEnded},
		{1001, "", ClassEnded},
		{1007, "Request contains an invalid argument.", ClassPayload},
		{1007, "API key expired. Please renew the API key.", ClassKey},
		{1008, "Operation is not implemented, or supported, or enabled.", ClassBackend},
		{1008, "Requested entity was not found.", ClassBackend},
		{1008, "models/x is not found for API version v1beta", ClassModel},
		{1009, "", ClassPayload},
		{1011, "Internal error encountered.", ClassBackend},
		{1011, "Deadline expired before operation could complete.", ClassBackend},
		{1012, "", ClassBackend},
		{4000, "", ClassBackend},
	}
	for _, test := range tests {
		conn := talk(t, Wire{}, Setup{}, func(m model) { m.close(test.code, test.reason) })
		var m ServerMessage
		wantEnd(t, conn.Recv(t.Context(), &m), test.class, test.code, test.reason)
	}
	conn := talk(t, Wire{}, Setup{}, func(model) {})
	var m ServerMessage
	wantEnd(t, conn.Recv(t.Context(), &m), ClassNetwork, 1006, "")
}

// TestSendLearnsTheReason sends while the model closes: the reason must not be hidden by "broken
// pipe".
func TestSendLearnsTheReason(t *testing.T) {
	conn := talk(t, Wire{}, Setup{}, func(m model) {
		_, _, _ = m.ws.Read(context.Background())
		m.close(1007, "API key expired.")
	})
	received := make(chan error, 1)
	go func() {
		var m ServerMessage
		received <- conn.Recv(context.Background(), &m)
	}()
	var err error
	for err == nil {
		err = conn.SendAudio(t.Context(), noise(320))
	}
	wantEnd(t, err, ClassKey, 1007, "API key expired.")
	wantEnd(t, <-received, ClassKey, 1007, "API key expired.")
}

// TestClose is seen by the model, ends waiting calls, and may be repeated by anyone.
func TestClose(t *testing.T) {
	seen := make(chan error, 1)
	conn := talk(t, Wire{}, Setup{}, func(m model) {
		_, err := m.listen()
		seen <- err
	})
	received := make(chan error, 1)
	go func() {
		var m ServerMessage
		received <- conn.Recv(context.Background(), &m)
	}()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if err := conn.Close(4002, "caller hung up"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	var ce websocket.CloseError
	if err := <-seen; !errors.As(err, &ce) || ce.Code != 4002 || ce.Reason != "caller hung up" {
		t.Errorf("the model saw %v", err)
	}
	wantEnd(t, <-received, ClassEnded, 4002, "caller hung up")
	wantEnd(t, conn.SendAudio(t.Context(), noise(1)), ClassEnded, 4002, "caller hung up")
	wantEnd(t, conn.Recv(t.Context(), new(ServerMessage)), ClassEnded, 4002, "caller hung up")
}

// TestCloseOfTheDeaf closes while the model does not read: Send and Recv end, within the time-out.
func TestCloseOfTheDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w, stop := pipeServer(serveModel(t, nil, func(m model) {
			m.accept()
			<-release
		}))
		conn, err := w.Dial(t.Context(), Setup{})
		if err != nil {
			t.Fatal(err)
		}
		results := make(chan error, 2)
		go func() { results <- conn.Recv(context.Background(), new(ServerMessage)) }()
		go func() {
			var err error
			for err == nil {
				err = conn.SendAudio(context.Background(), noise(16000))
			}
			results <- err
		}()
		synctest.Wait() // both wait now
		began := time.Now()
		if err := conn.Close(1000, "enough"); err == nil || !strings.Contains(err.Error(), "did not answer") {
			t.Errorf("close: %v", err)
		}
		if d := time.Since(began); d > time.Second {
			t.Errorf("close took %v", d)
		}
		wantEnd(t, <-results, ClassEnded, 1000, "enough")
		wantEnd(t, <-results, ClassEnded, 1000, "enough")
		close(release)
		stop()
	})
}

// TestClosedTwiceAtOnce closes from two sides while the model does not read: both wait until it is
// closed, and time passes for both.
func TestClosedTwiceAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w, stop := pipeServer(serveModel(t, nil, func(m model) {
			m.accept()
			<-release
		}))
		conn, err := w.Dial(t.Context(), Setup{})
		if err != nil {
			t.Fatal(err)
		}
		first := make(chan error, 1)
		go func() { first <- conn.Close(1000, "enough") }()
		synctest.Wait() // it waits for the answer
		if err := conn.Close(1000, "too"); err != nil {
			t.Errorf("the second close: %v", err)
		}
		synctest.Wait()
		select {
		case err := <-first:
			if err == nil || !strings.Contains(err.Error(), "did not answer") {
				t.Errorf("the first close: %v", err)
			}
		default:
			t.Error("the second close came back before the first")
		}
		close(release)
		stop()
	})
}

// TestCancelledRecv gives the connection up.
func TestCancelledRecv(t *testing.T) {
	conn := talk(t, Wire{}, Setup{}, func(m model) { _, _ = m.listen() })
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	err := conn.Recv(ctx, new(ServerMessage))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if again := conn.SendAudio(t.Context(), noise(1)); again.Error() != err.Error() {
		t.Errorf("then %v, before %v", again, err)
	}
	if err := conn.Close(1000, ""); err != nil {
		t.Error(err)
	}
}

// TestKeepAlive lets time pass on a connection over which nobody speaks.
func TestKeepAlive(t *testing.T) {
	tests := []struct {
		name    string
		pongs   bool
		message time.Duration // one message this often
		deaf    bool          // the client does not call Recv
		dies    time.Duration // 0: it lives for an hour
	}{
		{name: "pongs", pongs: true},
		{name: "neither", dies: 50 * time.Second},                 // the ping after 20 s stays alone for 30 s
		{name: "messages but no pong", message: 29 * time.Second}, // any frame is life
		{name: "too few messages", message: 51 * time.Second, dies: 50 * time.Second},
		{name: "nobody listens", deaf: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := &websocket.AcceptOptions{OnPingReceived: func(context.Context, []byte) bool { return test.pongs }}
				w, stop := pipeServer(serveModel(t, opts, func(m model) {
					m.accept()
					_ = chatter(m, test.message)
				}))
				conn, err := w.Dial(t.Context(), Setup{})
				if err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				began := time.Now()
				if !test.deaf {
					go func() { ended <- receiveAll(conn) }()
				}
				select {
				case err := <-ended:
					wantEnd(t, err, ClassTimeout, 1006, "")
					if !strings.Contains(err.Error(), "for 30s") || time.Since(began) != test.dies {
						t.Errorf("after %v: %v", time.Since(began), err)
					}
				case <-time.After(time.Hour):
					if err := conn.SendAudio(t.Context(), noise(1)); err != nil || test.dies != 0 {
						t.Errorf("after an hour: %v", err)
					}
				}
				_ = conn.Close(1000, "")
				stop()
			})
		})
	}
}

// chatter says something this often and listens for the end.
func chatter(m model, every time.Duration) error {
	if every == 0 {
		_, err := m.listen()
		return err
	}
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		for {
			select {
			case <-time.After(every):
				_ = m.send(`{"serverContent":{}}`)
			case <-stop:
				return
			}
		}
	})
	_, err := m.listen()
	close(stop)
	group.Wait()
	return err
}

func receiveAll(conn Conn) error {
	var m ServerMessage
	for {
		if err := conn.Recv(context.Background(), &m); err != nil {
			return err
		}
	}
}

func TestCloseCode(t *testing.T) {
	for code, want := range map[int]int{1000: 1000, 1001: 1001, 1003: 1003, 1004: 1011, 1005: 1011, 1006: 1011,
		1007: 1007, 1011: 1011, 1014: 1014, 1015: 1011, 0: 1011, -1: 1011, 2999: 1011, 3000: 3000, 4999: 4999, 5000: 1011} {
		if got := closeCode(code); got != want {
			t.Errorf("%d is sent as %d, want %d", code, got, want)
		}
	}
	long := strings.Repeat("é", 100)
	if got := closeReason(long); len(got) != 122 || !utf8.ValidString(got) || closeReason("short") != "short" {
		t.Errorf("a reason of %d bytes: %q", len(got), got)
	}
}
