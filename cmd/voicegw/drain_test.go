package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
)

// status asks a path without keeping the connection; 0 when nobody listens.
func status(url string) int {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// geminiPath is where Gemini's own clients ask for a call.
const geminiPath = "ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

// TestDrain asks a process to end while a call runs: first it is not ready, then it takes no more
// calls, the one that runs goes on, and when that is over the process ends.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := startServe(t, []string{"VOICEGW_LIMITS_DRAIN_LIMIT=10m", "VOICEGW_LIMITS_DRAIN_DELAY=1s"},
		"--admin-listen", "127.0.0.1:0")
	s.stderr.waitFor(t, "the admin listener is at ")
	_, after, _ := strings.Cut(s.stderr.String(), "the admin listener is at ")
	admin := strings.SplitN(after, "\n", 2)[0]
	client := s.dial(t)
	if status(s.url+"readyz") != 200 || status(admin+"readyz") != 200 {
		t.Error("it is not ready")
	}
	s.signal(syscall.SIGTERM)
	s.stderr.waitFor(t, "draining")
	if status(s.url+"readyz") != 503 || status(admin+"readyz") != 503 || status(s.url+"healthz") != 200 {
		t.Error("it is ready while it drains, or not well")
	}
	if !waitFor(func() bool { return status(s.url+"v1/voice") == 503 }, patience) {
		t.Error("calls are taken while it drains")
	}
	if code := status(s.url + geminiPath); code != 503 {
		t.Errorf("a client of Gemini is answered %d while it drains", code)
	}
	if _, err := ws.Dial(t.Context(), s.voiceURL, hello(), ws.DialConfig{}); err == nil {
		t.Error("a call was taken while it drains")
	}
	if err := client.SendEvent(t.Context(), &transport.Event{Kind: transport.EventMute, On: true}); err != nil {
		t.Errorf("the call that runs: %v", err)
	}
	select {
	case <-s.over():
		t.Error("it ended under a call")
	default:
	}
	_ = client.Close()
	if code, _ := s.wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, s.stderr.String())
	}
}

// over is closed when the process is gone.
func (s *served) over() <-chan struct{} { return s.process.ended }

// TestDrainIsLimited ends a call that does not end by itself, and tells it.
func TestDrainIsLimited(t *testing.T) {
	t.Parallel()
	s := startServe(t, []string{"VOICEGW_LIMITS_DRAIN_LIMIT=1s"})
	client := s.dial(t)
	s.signal(syscall.SIGTERM)
	var m transport.Message
	var err error
	for err == nil {
		err = client.Recv(t.Context(), &m)
	}
	if transport.ReasonOf(err) != transport.ReasonGoingAway {
		t.Errorf("the call ended by %v", err)
	}
	if code, _ := s.wait(); code != 0 || !strings.Contains(s.stderr.String(), "drain limit reached") {
		t.Errorf("exit code %d\n%s", code, s.stderr.String())
	}
}

// TestSecondSignalEndsADrain does not wait for the call.
func TestSecondSignalEndsADrain(t *testing.T) {
	t.Parallel()
	s := startServe(t, []string{"VOICEGW_LIMITS_DRAIN_LIMIT=10m"})
	s.dial(t)
	s.signal(syscall.SIGTERM)
	s.stderr.waitFor(t, "draining")
	s.signal(syscall.SIGTERM)
	code, _ := s.wait()
	if code != exitFailed || !strings.Contains(s.stderr.String(), "second signal ended the process at once\n") {
		t.Errorf("exit code %d\n%s", code, s.stderr.String())
	}
}

// TestRestartWithoutAGap starts the next process before the first one ends: every connection is
// answered, and a call of the first goes on.
func TestRestartWithoutAGap(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	env := []string{"VOICEGW_LIMITS_DRAIN_LIMIT=10m"}
	args := []string{"--listen", fmt.Sprintf("127.0.0.1:%d", port), "--reuse-port"}
	first := startServe(t, env, args...)
	client := first.dial(t)
	second := startServe(t, env, args...)
	ctx, cancel := context.WithCancel(t.Context())
	missed := make(chan int, 1)
	go func() {
		n := 0
		for ctx.Err() == nil {
			if code := status(second.url + "healthz"); code != 200 {
				n++
			}
		}
		missed <- n
	}()
	first.signal(syscall.SIGTERM)
	first.stderr.waitFor(t, "draining")
	for range 20 {
		if !waitFor(func() bool { return status(second.url+"readyz") == 200 }, patience) {
			t.Fatal("the next process is not ready")
		}
	}
	if err := client.SendEvent(t.Context(), &transport.Event{Kind: transport.EventMute, On: true}); err != nil {
		t.Errorf("the call that runs: %v", err)
	}
	cancel()
	// A connection that waits in the queue of the first process when it stops listening is lost:
	// one of them at most, because one is made at a time.
	if n := <-missed; n > 1 {
		t.Errorf("%d requests were not answered", n)
	}
	_ = client.Close()
	if code, _ := first.wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, first.stderr.String())
	}
	second.interrupt()
}

// interrupt ends a process that would drain, as somebody at a keyboard does.
func (s *served) interrupt() {
	s.tb.Helper()
	s.signal(os.Interrupt)
	if code, _ := s.wait(); code != 0 {
		s.tb.Errorf("exit code %d\n%s", code, s.stderr.String())
	}
}

// TestSocketActivation hands a socket over, as systemd does, to one process after the other: who
// connects between them waits in the socket's queue.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	socket, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	url := "http://" + l.Addr().String() + "/healthz"
	for range 2 {
		answered := make(chan int, 1)
		go func() { answered <- status(url) }() // before anybody serves
		cmd := exec.Command("sh", "-c", `LISTEN_FDS=1 LISTEN_PID=$$ exec "$0" serve`, noProof)
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, oneKind...)
		cmd.ExtraFiles = []*os.File{socket}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil || !strings.Contains(line, l.Addr().String()) {
			t.Errorf("it says %q, %v", line, err)
		}
		if code := <-answered; code != 200 {
			t.Errorf("who was early got %d", code)
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func TestInheritedSocket(t *testing.T) {
	t.Parallel()
	env := func(pid, fds string) func(string) string {
		return func(name string) string { return map[string]string{"LISTEN_PID": pid, "LISTEN_FDS": fds}[name] }
	}
	if l, err := inherited(env("", ""), 7); l != nil || err != nil {
		t.Errorf("%v, %v", l, err)
	}
	if l, err := inherited(env("8", "1"), 7); l != nil || err != nil {
		t.Errorf("of another process: %v, %v", l, err)
	}
	if _, err := inherited(env("7", "2"), 7); err == nil || !strings.Contains(err.Error(), "LISTEN_FDS") {
		t.Errorf("two sockets: %v", err)
	}
}

// TestConnectionsOfOneAddress: one too many closes the oldest request of its address, or is closed
// where all others are WebSockets; another address is let in.
func TestConnectionsOfOneAddress(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	limited := limitConnections(l, connectionLimits{most: 10, each: 2, requests: 8, requestsEach: 8})
	accepted := make(chan net.Conn, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := limited.Accept()
			if err != nil {
				return
			}
			accepted <- c
		}
	}()
	dial := func(ip byte) (net.Conn, error) {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, ip)}}
		return d.DialContext(t.Context(), "tcp", l.Addr().String())
	}
	closed := func(c net.Conn) bool {
		_ = c.SetReadDeadline(time.Now().Add(patience))
		_, err := c.Read(make([]byte, 1))
		return err != nil && !timedOut(err)
	}
	from := func(ip byte) (ours, theirs net.Conn) {
		t.Helper()
		c, err := dial(ip)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c, <-accepted
	}
	_, call := from(2)
	leaveRequests(call, http.StateHijacked)
	idle, _ := from(2)
	_, second := from(2)
	if !closed(idle) {
		t.Error("a third connection of one address left the oldest request open")
	}
	leaveRequests(second, http.StateHijacked)
	if third, err := dial(2); err == nil { // it may be reset before we look
		if !closed(third) {
			t.Error("a third connection beside two WebSockets was let in")
		}
		_ = third.Close()
	}
	from(3)
	_ = call.Close()
	_ = call.Close()
	from(2)
	_ = limited.Close()
	<-done
	if n := len(limited.from); n != 2 {
		t.Errorf("%d addresses are counted", n)
	}
}
