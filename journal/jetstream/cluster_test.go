package jetstream_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/jetstream"
)

// A child of the cluster runs a node. It reads commands from its input, one a line, and answers each with a
// line: "open LOG", "write LOG N" (N records, each awaited), "read LOG", "leave".
const childNode = "VOICEGW_TEST_NODE" // index and the addresses of the nodes, in one directory each below childDir

// node is a child.
type node struct {
	t   *testing.T
	i   int
	dir string
	env string
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (n *node) start() {
	n.t.Helper()
	self, err := os.Executable()
	if err != nil {
		n.t.Fatal(err)
	}
	n.cmd = exec.Command(self)
	n.cmd.Env = append(os.Environ(), childDir+"="+n.dir, childNode+"="+n.env)
	n.cmd.Stderr = os.Stderr
	if n.in, err = n.cmd.StdinPipe(); err != nil {
		n.t.Fatal(err)
	}
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	n.out = bufio.NewReader(out)
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
}

func (n *node) say(format string, args ...any) { _, _ = fmt.Fprintf(n.in, format+"\n", args...) }

// hear returns the next answer.
func (n *node) hear() string {
	line, err := n.out.ReadString('\n')
	if err != nil {
		return "gone"
	}
	return strings.TrimSpace(line)
}

func (n *node) signal(s syscall.Signal) { _ = n.cmd.Process.Signal(s) }

func (n *node) kill() {
	n.signal(syscall.SIGKILL)
	_ = n.cmd.Wait()
}

// runNode is the child.
func runNode(dir, env string) error {
	ctx := context.Background()
	addresses := strings.Fields(env)
	i := strings.Index("012", addresses[0])
	addresses = addresses[1:]
	c := &jetstream.Cluster{Name: "test", Node: fmt.Sprint("node", i), Listen: addresses[i]}
	for _, a := range addresses {
		c.Routes = append(c.Routes, "nats://"+a)
	}
	e, err := jetstream.Open(ctx, jetstream.Config{Dir: filepath.Join(dir, c.Node), Cluster: c, Timeout: 2 * time.Second})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	writers := map[string]journal.Writer{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var cmd, log string
		var count int
		_, _ = fmt.Sscan(lines.Text(), &cmd, &log, &count)
		switch cmd {
		case "open":
			w, err := e.Open(ctx, log, c.Node)
			writers[log] = w
			fmt.Println("opened", err)
		case "write":
			w := writers[log]
			var acked uint64
			var err error
			for n := 0; n < count && err == nil; n++ {
				var seq uint64
				if seq, err = w.Append(fmt.Append(nil, c.Node, " ", n)); err == nil {
					err = w.Await(ctx, seq)
				}
				acked = w.Acked()
			}
			fmt.Println("acked", acked, strings.ReplaceAll(fmt.Sprint(err), "\n", " "))
		case "read":
			n, err := countLog(ctx, e, log)
			fmt.Println("read", n, err)
		case "leave":
			fmt.Println("left", e.Leave())
			return nil
		}
	}
	return e.Close()
}

// countLog reads a log that must be dense.
func countLog(ctx context.Context, e journal.Engine, log string) (n uint64, err error) {
	for r, err := range e.Read(ctx, log, 1, false) {
		if err != nil {
			return n, err
		}
		if n++; r.Seq != n {
			return n, fmt.Errorf("record %d has the number %d", n, r.Seq)
		}
	}
	return n, nil
}

// cluster starts three nodes on loopback addresses.
func cluster(t *testing.T) []*node {
	t.Helper()
	var addresses []string
	for range 3 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, l.Addr().String())
		_ = l.Close()
	}
	nodes := make([]*node, 3)
	dir := t.TempDir()
	for i := range nodes {
		nodes[i] = &node{t: t, i: i, dir: dir, env: fmt.Sprint(i, " ", strings.Join(addresses, " "))}
	}
	return nodes
}

// expect hears an answer.
func (n *node) expect(want string) {
	n.t.Helper()
	if got := n.hear(); got != want {
		n.t.Fatalf("node %d: %s, want %s", n.i, got, want)
	}
}

// acked hears the answer to "write" and returns the number of the last record that was acked.
func (n *node) acked(want error) (seq uint64) {
	n.t.Helper()
	got := n.hear()
	_, err := fmt.Sscanf(got, "acked %d", &seq)
	if err != nil || want == nil && !strings.HasSuffix(got, "<nil>") ||
		want != nil && !strings.Contains(got, want.Error()) {
		n.t.Fatalf("node %d: %s, want %v", n.i, got, want)
	}
	return seq
}

// opens makes a node the owner of the log. While the cluster elects, it tries again.
func (n *node) opens() {
	n.t.Helper()
	for range 20 {
		n.say("open log")
		got := n.hear()
		if got == "opened <nil>" {
			return
		}
		n.t.Logf("node %d: %s", n.i, got)
	}
	n.t.Fatalf("node %d cannot open the log", n.i)
}

func startCluster(t *testing.T) []*node {
	t.Helper()
	nodes := cluster(t)
	for _, n := range nodes {
		n.start()
		t.Cleanup(n.kill)
	}
	for _, n := range nodes {
		n.expect("ready")
	}
	return nodes
}

// TestCluster moves a log from node to node; the owner before cannot write any more. A node leaves in good
// order while another one writes.
func TestCluster(t *testing.T) {
	nodes := startCluster(t)
	nodes[0].opens()
	nodes[0].say("write log 50")
	if acked := nodes[0].acked(nil); acked != 51 {
		t.Errorf("acked %d, want 51", acked)
	}
	nodes[1].opens()
	nodes[0].say("write log 1")
	nodes[0].acked(journal.ErrFenced)
	nodes[2].say("leave")
	nodes[1].say("write log 100")
	nodes[2].expect("left <nil>")
	if acked := nodes[1].acked(nil); acked != 152 {
		t.Errorf("acked %d, want 152", acked)
	}
	nodes[0].say("read log")
	nodes[0].expect("read 152 <nil>")
}

// TestCrashCluster pauses the owner of a log while it writes, and kills each node in turn while the next one
// writes: as often as VOICEGW_CHAOS says, each time some seconds, and not at all without it.
func TestCrashCluster(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("VOICEGW_CHAOS"))
	if rounds == 0 {
		return
	}
	nodes := startCluster(t)
	nodes[0].opens()
	var acked uint64
	for round := range rounds {
		other, next, victim := nodes[round%3], nodes[(round+1)%3], nodes[(round+2)%3]

		// other owns the log. It is paused while it writes, and goes on when next has the log.
		other.say("write log 2000")
		other.signal(syscall.SIGSTOP)
		next.opens()
		next.say("write log 30")
		acked = next.acked(nil)
		other.signal(syscall.SIGCONT)
		if zombie := other.acked(journal.ErrFenced); zombie > acked-31 {
			t.Errorf("round %d: a zombie has acked %d; the next owner's first record is %d", round, zombie, acked-30)
		}

		next.say("write log 400")
		victim.kill()
		last := next.acked(nil)
		if last != acked+400 {
			t.Errorf("round %d: acked %d, want %d", round, last, acked+400)
		}
		acked = last
		victim.start()
		victim.expect("ready")
		for _, n := range nodes {
			n.say("read log")
			n.expect(fmt.Sprintf("read %d <nil>", acked))
		}
	}
	t.Logf("%d kills, %d pauses, %d acked, 0 lost", rounds, rounds, acked)
}
