package jetstream_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
)

const (
	childDir = "VOICEGW_TEST_CHILD" // makes this program a child that writes to a directory until it is killed
	children = 4                    // logs that the child writes to
)

func TestMain(m *testing.M) {
	if dir, env := os.Getenv(childDir), os.Getenv(childNode); env != "" {
		if err := runNode(dir, env); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	} else if dir != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(dir))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// writeUntilKilled prints the number of a log and that of a record, each time that a record is acked.
func writeUntilKilled(dir string) error {
	ctx := context.Background()
	e, err := jetstream.Open(ctx, jetstream.Config{Dir: dir})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for g := range children {
		go func() {
			w, err := e.Open(ctx, fmt.Sprint("log", g), "child")
			for last := uint64(0); err == nil; {
				for range 3 {
					if last, err = w.Append(bytes.Repeat([]byte{byte(last + 1)}, 400)); err != nil {
						break
					}
				}
				if err == nil {
					err = w.Await(ctx, last)
				}
				fmt.Println(g, w.Acked())
			}
			failed <- err
		}()
	}
	return <-failed
}

// TestCrash kills a process that writes, with SIGKILL, again and again: what it said was acked is there, and
// every log is dense. VOICEGW_CHAOS says how often, instead of twice. The machine goes on, so this shows
// nothing of a loss of power.
func TestCrash(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills, _ := strconv.Atoi(os.Getenv("VOICEGW_CHAOS"))
	kills = max(kills, 2)
	dir := t.TempDir()
	acked := map[string]uint64{}
	for kill := range kills {
		child := exec.Command(self)
		child.Env = append(os.Environ(), childDir+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			if n == 300+kill*37 {
				_ = child.Process.Kill() // and read what it has said before
			}
			log, seq, _ := strings.Cut(lines.Text(), " ")
			if last, err := strconv.ParseUint(seq, 10, 64); err == nil {
				acked["log"+log] = max(acked["log"+log], last)
			}
		}
		_ = child.Wait()
	}
	e := open(t, dir)
	var total, lost uint64
	for log, last := range acked {
		next, claims := uint64(1), 0
		for r, err := range e.Read(t.Context(), log, 1, false) {
			if err != nil || r.Seq != next {
				t.Fatalf("%s: record %d: %d, %v", log, next, r.Seq, err)
			}
			if next++; r.Kind == journal.Claim {
				claims++
			}
		}
		if total += last; next <= last {
			lost += last - next + 1
		}
		if claims != kills {
			t.Errorf("%s: %d claims, want %d", log, claims, kills)
		}
	}
	t.Logf("%d kills, %d acked, %d lost", kills, total, lost)
	if lost > 0 || len(acked) != children {
		t.Errorf("%d acked records of %d logs are lost", lost, len(acked))
	}
}

// blocks are the files of messages below a directory, the log's stream only.
func blocks(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".blk") && strings.Contains(path, "VOICEGW_LOG_") {
			if info, err := d.Info(); err == nil && info.Size() > 0 {
				list = append(list, path)
			}
		}
		return err
	})
	if err != nil || len(list) != 1 {
		t.Fatalf("the files of messages are %v, %v", list, err)
	}
	return list
}

// TestDamage damages the file of messages. What is read is a part of what was written, from the beginning
// on; the engine stores more behind it, or says that it cannot read what is there. It never begins again.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"torn":       func(b []byte) []byte { return b[:len(b)-5] },
		"short":      func(b []byte) []byte { return b[:len(b)-1] },
		"cut":        func(b []byte) []byte { return b[:len(b)-600] },
		"flipped":    func(b []byte) []byte { b[len(b)-100] ^= 1; return b },
		"checksum":   func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"zeroes":     func(b []byte) []byte { return append(b, make([]byte, 4096)...) },
		"nonsense":   func(b []byte) []byte { return append(b, bytes.Repeat([]byte("x7"), 300)...) },
		"zeroed end": func(b []byte) []byte { clear(b[len(b)-300:]); return b },
		"middle":     func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
	} {
		for _, index := range []bool{true, false} { // without its index the server reads the whole file
			t.Run(fmt.Sprint(name, "/index ", index), func(t *testing.T) { damaged(t, damage, index) })
		}
	}
}

func damaged(t *testing.T, damage func([]byte) []byte, index bool) {
	dir := t.TempDir()
	e := open(t, dir)
	w, err := e.Open(t.Context(), "log", "a")
	for i := 2; i <= 20 && err == nil; i++ {
		var seq uint64
		if seq, err = w.Append(bytes.Repeat([]byte{byte(i)}, 400)); err == nil {
			err = w.Await(t.Context(), seq)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = e.Close()
	file := blocks(t, dir)[0]
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, damage(b), 0o600)
	}
	if err == nil && !index {
		err = os.Remove(filepath.Join(filepath.Dir(file), "index.db"))
	}
	if err != nil {
		t.Fatal(err)
	}
	e = open(t, dir)
	n, rerr := prefix(t, e)
	w, werr := e.Open(t.Context(), "log", "b")
	if werr == nil {
		var seq uint64
		if seq, werr = w.Append([]byte("more")); werr == nil {
			werr = w.Await(t.Context(), seq)
		}
	}
	t.Logf("read %d of 20 records, %v; appended: %v", n, rerr, werr)
	for _, err := range []error{rerr, werr} {
		if err != nil && !errors.Is(err, journal.ErrCorrupt) {
			t.Error(err)
		}
	}
	if werr == nil && rerr == nil && w.Claimed() != uint64(n)+1 || werr == nil && w.Claimed() <= uint64(n) {
		t.Errorf("the claim behind %d records has the number %d", n, w.Claimed())
	}
}

// prefix returns how many of the records of TestDamage are there.
func prefix(t *testing.T, e journal.Engine) (n int, err error) {
	t.Helper()
	for r, err := range e.Read(t.Context(), "log", 1, false) {
		if err != nil {
			return n, err
		}
		if r.Seq != uint64(n)+1 || n > 0 && !bytes.Equal(r.Data, bytes.Repeat([]byte{byte(n + 1)}, 400)) {
			t.Errorf("behind record %d: %+v", n, r)
		}
		n++
	}
	return n, nil
}
