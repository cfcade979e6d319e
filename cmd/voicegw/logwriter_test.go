package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
)

// reader is one that can sleep, and break.
type reader struct {
	watched
	awake chan struct{}
	dead  bool
}

func (r *reader) Write(b []byte) (int, error) {
	<-r.awake
	if r.dead {
		return 0, errors.New("nobody reads")
	}
	return r.watched.Write(b)
}

// TestLogWhileNobodyReads loses what does not fit, counts it, and tells of it when the reader is
// back.
func TestLogWhileNobodyReads(t *testing.T) {
	t.Parallel()
	r := &reader{watched: newWatched(), awake: make(chan struct{})}
	w := newLogWriter(r)
	log := newLogger(settings.Log{Level: zap.InfoLevel, Format: "json"}, w)
	const lines = 20000
	for i := range lines {
		log.Info("a line", zap.Int("n", i), zap.String("filler", strings.Repeat("x", 100)))
	}
	if lost := w.losses(); lost == 0 || lost > lines-logBytesMax/300 {
		t.Errorf("%d lines of %d lost", lost, lines)
	}
	close(r.awake)
	r.waitFor(t, "lines of the log were lost")
	log.Info("once more")
	w.close()
	text, lost := r.String(), w.losses()
	if want := fmt.Sprintf(`"lines of the log were lost","lines":%d}`, lost); strings.Count(text, want) != 1 {
		t.Errorf("the log does not tell once of %d lost lines:\n%s", lost, text[max(0, len(text)-1000):])
	}
	if got := uint64(strings.Count(text, "a line")); got+lost != lines {
		t.Errorf("%d lines written and %d lost; want %d in all", got, lost, lines)
	}
}

// TestLogWithoutAReader counts every line, and close does not wait for ever.
func TestLogWithoutAReader(t *testing.T) {
	t.Parallel()
	r := &reader{watched: newWatched(), awake: make(chan struct{}), dead: true}
	close(r.awake)
	w := newLogWriter(r)
	w.note = func(uint64) []byte { return []byte("lines were lost\n") } // does not count itself
	for i := range 5 {
		_, _ = io.WriteString(w, "a line\n")
		waitFor(func() bool { return w.losses() == uint64(i+1) }, patience)
	}
	w.close()
	_, _ = io.WriteString(w, "behind the end\n")
	if n := w.losses(); n != 6 {
		t.Errorf("%d lines lost; want 6", n)
	}
	asleep := newLogWriter(&reader{watched: newWatched(), awake: make(chan struct{})})
	_, _ = io.WriteString(asleep, "a line\n")
	began := time.Now()
	asleep.close()
	if took := time.Since(began); took > 10*logCloseTimeout {
		t.Errorf("close took %v", took)
	}
}

// serveInto starts serve with a pipe as its stderr.
func serveInto(t *testing.T, stderr *os.File) (p *process, url, admin string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin = l.Addr().String()
	_ = l.Close()
	p = startWith(t, noProof, oneKind, stderr, "serve", "--listen", "127.0.0.1:0", "--admin-listen", admin,
		"--log-level", "debug")
	url = strings.Fields(strings.TrimPrefix(p.line(), "voicegw is at "))[0]
	return p, url, admin
}

// refusedOften has serve write lines of its log.
func refusedOften(t *testing.T, url string) {
	t.Helper()
	for range 20 {
		if got := status(url + "v1/voice"); got == 0 {
			t.Fatal("serve does not answer")
		}
	}
	if got := status(url + "readyz"); got != http.StatusOK {
		t.Fatalf("/readyz answers %d", got)
	}
}

// TestServeOutlivesItsReader: who read the log dies, and calls are still taken; the metrics count
// the lost lines.
func TestServeOutlivesItsReader(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p, url, admin := serveInto(t, w)
	_ = w.Close()
	_ = r.Close() // the reader dies
	refusedOften(t, url)
	lost := func() bool {
		_, text := get(t, http.DefaultClient, "http://"+admin+"/metrics")
		return strings.Contains(text, `voicegw_log_lines_lost_total{why="unread"} `) &&
			!strings.Contains(text, `voicegw_log_lines_lost_total{why="unread"} 0`)
	}
	if !waitFor(lost, patience) {
		t.Error("the metrics count no lost line")
	}
	p.signal(syscall.SIGTERM)
	if code, _ := p.wait(); code != 0 {
		t.Errorf("serve ended with %d", code)
	}
}

// TestServeOutsleepsItsReader: nobody reads the log, not even at the start, and calls are taken;
// serve also ends.
func TestServeOutsleepsItsReader(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fill(t, w)
	p, url, _ := serveInto(t, w)
	_ = w.Close()
	refusedOften(t, url)
	p.signal(syscall.SIGTERM)
	if code, _ := p.wait(); code != 0 {
		t.Errorf("serve ended with %d", code)
	}
}

// fill fills a pipe, so that the next write to it blocks.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	if err := w.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := w.Write(make([]byte, 1)); err != nil {
			break
		}
	}
	if err := w.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// TestLogOfAFlood writes ten refusals of a kind in a second and counts the others; lines of calls
// are all there.
func TestLogOfAFlood(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := newLogWriter(&out)
	log := newLogger(settings.Log{Level: zap.InfoLevel, Format: "json"}, w)
	const each = 1000
	began := time.Now()
	for i := range each {
		transport.RefusalLog(log).With(zap.Int("n", i)).Info("call refused")
		transport.RefusalLog(log).Warn("stream refused")
		log.Named(httpLogger).Info(fmt.Sprintf("http: TLS handshake error from 192.0.2.1:%d", i))
		log.Info("call ended")
		transport.RefusalLog(log).Debug("webhook refused") // not enabled, hence not counted
	}
	seconds := int(time.Since(began)/time.Second) + 2 // that were begun
	w.close()
	if n := strings.Count(out.String(), "call ended"); n != each {
		t.Errorf("%d calls ended; want %d", n, each)
	}
	kept := 0
	for _, words := range []string{"call refused", "stream refused", "handshake error"} {
		n := strings.Count(out.String(), words)
		if kept += n; n < floodLines || n > seconds*floodLines {
			t.Errorf("%s: %d lines in %d seconds", words, n, seconds)
		}
	}
	if n := w.flood.dropped.Load(); n != uint64(3*each-kept) {
		t.Errorf("%d dropped; want %d", n, 3*each-kept)
	}
}
