package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	"google.golang.org/adk/v2/model"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/managed/api"
	"github.com/voicegw/voicegw/agent/provider"
	"github.com/voicegw/voicegw/journal/jetstream"
)

// processSpec is the variable of the environment with the specification of a process that is killed, as JSON.
const processSpec = "VOICEGW_TEST_PROCESS"

// specification is that of a process with an API. Its journal is at URL, or it has a node of a cluster in Dir.
type specification struct {
	Name, Address string // of the API
	URL           string
	Dir, Cluster  string
	Nodes         []string
}

// stubborn is a model that answers at once, unless the last message tells it to wait in this process: then never.
type stubborn struct{ name string }

func (s stubborn) Name() string { return s.name }

func (s stubborn) GenerateContent(ctx context.Context, req *model.LLMRequest, _ bool,
) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		last := req.Contents[len(req.Contents)-1].Parts[0].Text
		if last == "Wait in "+s.name {
			<-ctx.Done()
			yield(nil, ctx.Err())
			return
		}
		yield(&model.LLMResponse{Content: genai.NewContentFromText("Done in "+s.name+".", genai.RoleModel),
			FinishReason: genai.FinishReasonStop}, nil)
	}
}

// serveProcess serves until SIGTERM, and then hands its sessions over.
func serveProcess(text string) error {
	var s specification
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cfg := jetstream.Config{URL: s.URL, Replicas: 3, Timeout: 2 * time.Second}
	if s.URL == "" {
		cfg.Dir, cfg.Cluster = filepath.Join(s.Dir, s.Name), &jetstream.Cluster{Name: "test", Node: s.Name, Listen: s.Cluster}
		for _, a := range s.Nodes {
			cfg.Cluster.Routes = append(cfg.Cluster.Routes, "nats://"+a)
		}
	}
	engine, err := jetstream.Open(ctx, cfg)
	if err != nil {
		return err
	}
	models := provider.NewResolver()
	models.Add("script", func(provider.Ref) (model.LLM, error) { return stubborn{s.Name}, nil })
	rt, err := managed.New(managed.Config{Journal: engine, Models: models, Node: s.Name,
		Cluster: &managed.Cluster{Address: "http://" + s.Address}})
	if err != nil {
		return err
	}
	h, err := api.New(api.Config{Runtime: rt, Authorize: func(*http.Request, string) (managed.Owner, error) {
		return managed.Owner{Tenant: "acme"}, nil
	}})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", s.Address)
	if err != nil {
		return err
	}
	if _, err := rt.Recover(ctx); err != nil {
		return err
	}
	fmt.Println("ready")
	go func() { _ = http.Serve(l, h) }() //nolint:gosec // a test
	<-ctx.Done()
	if err := rt.Close(context.Background()); err != nil {
		return err
	}
	return engine.Leave()
}

// process is such a process.
type process struct {
	client
	spec specification
	cmd  *exec.Cmd
	out  io.Reader
}

func (p *process) start() {
	p.Helper()
	p.launch()
	p.ready()
}

func (p *process) launch() {
	p.Helper()
	text, err := json.Marshal(p.spec)
	if err != nil {
		p.Fatal(err)
	}
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), processSpec+"="+string(text))
	p.cmd.Stderr = os.Stderr
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		p.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(p.kill)
}

// ready waits until the process serves.
func (p *process) ready() {
	p.Helper()
	late := time.AfterFunc(2*time.Minute, p.kill)
	defer late.Stop()
	if s := bufio.NewScanner(p.out); !s.Scan() || s.Text() != "ready" {
		p.Fatalf("process %s does not start", p.spec.Name)
	}
}

func (p *process) signal(s syscall.Signal) {
	p.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.Error(err)
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// free are addresses on this machine that nobody uses.
func free(t *testing.T, n int) []string {
	t.Helper()
	var list []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l.Addr().String())
		_ = l.Close()
	}
	return list
}

// natsCluster starts three servers that are a cluster, and returns their address.
func natsCluster(t *testing.T) string {
	t.Helper()
	routes, urls := free(t, 3), []string{}
	dir := t.TempDir()
	var servers []*nats.Server
	for i, a := range routes {
		_, port, _ := net.SplitHostPort(a)
		o := &nats.Options{ServerName: fmt.Sprint("s", i), Host: "127.0.0.1", Port: nats.RANDOM_PORT, JetStream: true,
			StoreDir: filepath.Join(dir, fmt.Sprint(i)), NoSigs: true, NoLog: true, MaxPayload: 8 << 20, SyncAlways: true}
		o.Cluster.Name, o.Cluster.Host = "test", "127.0.0.1"
		o.Cluster.Port, _ = strconv.Atoi(port)
		o.Routes = nats.RoutesFromStr("nats://" + strings.Join(routes, ",nats://"))
		s, err := nats.NewServer(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		servers = append(servers, s)
		t.Cleanup(func() {
			s.Shutdown()
			s.WaitForShutdown()
		})
	}
	for _, s := range servers {
		if !s.ReadyForConnections(30 * time.Second) {
			t.Fatal("a server does not start")
		}
		urls = append(urls, "nats://"+s.Addr().String())
	}
	return strings.Join(urls, ",")
}

// events are those of a session as a stream has them.
type events struct {
	*process
	lines *bufio.Scanner
	seq   int
	at    time.Time // of the last one
}

// follow streams a session from its beginning. The stream ends after a minute.
func (p *process) follow(path string) *events {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), time.Minute)
	r, err := http.NewRequestWithContext(ctx, "GET", p.url+path+"/events/stream?from_seq=1", nil)
	if err != nil {
		p.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		cancel()
		_ = resp.Body.Close()
	})
	return &events{process: p, lines: bufio.NewScanner(resp.Body)}
}

// next reads up to an event of a type, and returns its text. The numbers must be dense.
func (e *events) next(kind string) string {
	e.Helper()
	for e.lines.Scan() {
		line := e.lines.Text()
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			if e.seq++; id != strconv.Itoa(e.seq) {
				e.Fatalf("event %s comes where %d must be", id, e.seq)
			}
			e.at = time.Now()
		}
		if strings.Contains(line, `"type":"`+kind+`"`) {
			return line
		}
	}
	e.Fatalf("the stream ends before %s: %v", kind, e.lines.Err())
	return ""
}

// ask makes a request, again and again until it is answered, as the client libraries do.
func (p *process) ask(path, body, key string) string {
	p.Helper()
	for begin := time.Now(); ; <-time.After(100 * time.Millisecond) {
		status, answer := p.do("POST", path, body, "Idempotency-Key", key)
		if status == http.StatusOK {
			return answer
		}
		if status < 500 || time.Since(begin) > 45*time.Second {
			p.Fatalf("%s answers %d %s", p.spec.Name, status, answer)
		}
	}
}

// send sends a message.
func (p *process) send(path, text string) {
	p.Helper()
	p.ask(path+"/events", strings.Replace(hello, `"Hi"`, strconv.Quote(text), 1), text)
}

// make makes an agent and a session, and returns the path of the session.
func (p *process) make() string {
	p.Helper()
	agent := p.ask("/v1/agents", `{"name":"desk","model":"script"}`, "")
	return "/v1/sessions/" + field(p.ask("/v1/sessions", fmt.Sprintf(`{"agent":%q}`, field(agent, "id")), ""), "id")
}

// takeover lets a session work in one process, does something to that, and waits until another one has gone on. It
// returns how long that took.
func takeover(victim, survivor *process, harm func()) (path string, s *events, took time.Duration) {
	victim.Helper()
	path = victim.make()
	s = survivor.follow(path)
	victim.send(path, "Wait in "+victim.spec.Name)
	s.next("span.model_request_start")
	begin := time.Now()
	harm()
	if said := s.next("agent.message"); strings.Contains(said, "Done in "+victim.spec.Name) {
		victim.Errorf("the process that was harmed has answered: %s", said)
	}
	s.next("session.status_idle")
	took = s.at.Sub(begin)
	survivor.send(path, "And now?")
	s.next("agent.message")
	s.next("session.status_idle")
	return path, s, took
}

// processes starts one process for each name, with a journal at an address or, if that is "", in themselves.
func processes(t *testing.T, url string, names ...string) []*process {
	t.Helper()
	n := len(names)
	addresses, dir := free(t, 2*n), t.TempDir()
	list := make([]*process, n)
	for i, name := range names {
		list[i] = &process{client: client{t, "http://" + addresses[i]}, spec: specification{Name: name, Address: addresses[i],
			URL: url}}
		if url == "" {
			list[i].spec.Dir, list[i].spec.Cluster, list[i].spec.Nodes = dir, addresses[n+i], addresses[n:]
		}
	}
	for _, p := range list { // none is ready before most are there
		p.launch()
	}
	for _, p := range list {
		p.ready()
	}
	return list
}

// TestKillOwner: of two processes on a cluster of three NATS servers, the one that has a session is killed in the
// middle of a turn. The other one goes on with it, and the stream that it serves has no gap and no double.
// VOICEGW_KILLS says how often, instead of once; then the process is also paused, and told to end.
func TestKillOwner(t *testing.T) {
	t.Parallel()
	kills, _ := strconv.Atoi(os.Getenv("VOICEGW_KILLS"))
	both := processes(t, natsCluster(t), "a", "b")
	var all []time.Duration
	for round := range max(1, kills) {
		victim, survivor := both[round%2], both[1-round%2]
		_, _, took := takeover(victim, survivor, func() { victim.signal(syscall.SIGKILL) })
		if all = append(all, took); took > 15*time.Second {
			t.Errorf("taken over within %v", took)
		}
		victim.kill()
		if kills == 0 {
			break
		}
		victim.start()
		pause(t, survivor, victim)
		drain(t, victim, survivor)
	}
	slices.Sort(all)
	t.Logf("%d kills; taken over within %v, at most %v", len(all), all[len(all)/2], all[len(all)-1])
}

// pause stops a process for a while. When it goes on, it takes nothing back, and its clients find the session
// elsewhere.
func pause(t *testing.T, victim, survivor *process) {
	t.Helper()
	path, s, took := takeover(victim, survivor, func() { victim.signal(syscall.SIGSTOP) })
	t.Logf("taken over from one that is paused within %v", took)
	victim.signal(syscall.SIGCONT)
	victim.send(path, "Are you back?")
	if said := s.next("agent.message"); !strings.Contains(said, "Done in "+survivor.spec.Name) {
		t.Errorf("the answer comes from elsewhere: %s", said)
	}
	s.next("session.status_idle")
}

// drain ends a process in good order, and starts it again.
func drain(t *testing.T, victim, survivor *process) {
	t.Helper()
	_, _, took := takeover(victim, survivor, func() { victim.signal(syscall.SIGTERM) })
	t.Logf("handed over within %v", took)
	if err := victim.cmd.Wait(); err != nil {
		t.Errorf("the process that was told to end: %v", err)
	}
	victim.start()
}

// TestKillNode kills one of three processes, again and again. Each process runs a server of the journal's cluster, so
// a part of the journal loses a server with it, and perhaps its leader. VOICEGW_KILLS is the number of kills; without
// it the test does nothing.
func TestKillNode(t *testing.T) {
	kills, _ := strconv.Atoi(os.Getenv("VOICEGW_KILLS"))
	if kills == 0 {
		return
	}
	three := processes(t, "", "a", "b", "c")
	var all []time.Duration
	for round := range kills {
		victim, survivor, third := three[round%3], three[(round+1)%3], three[(round+2)%3]
		path, s, took := takeover(victim, survivor, func() { victim.signal(syscall.SIGKILL) })
		all = append(all, took)
		third.send(path, "From elsewhere")
		s.next("session.status_idle")
		victim.kill()
		victim.start()
		victim.send(path, "From the one that was killed")
		s.next("session.status_idle")
	}
	slices.Sort(all)
	t.Logf("%d kills; taken over within %v, at most %v", len(all), all[len(all)/2], all[len(all)-1])
	if worst := all[len(all)-1]; worst > 40*time.Second {
		t.Errorf("a session was taken over after %v", worst)
	}
}
