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
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/bench"
	"github.com/voicegw/voicegw/bench/relay"
)

// benchParts are the processes of a bench.
type benchParts struct {
	gateway, relay bench.Endpoint
	model          string
	running        []*benchPart
}

// benchPaths are the paths of the transports, by their names.
func benchPaths() map[string]string {
	return map[string]string{bench.WebSocket: relay.WebSocketPath, bench.WebRTC: relay.WHIPPath,
		bench.Twilio: relay.TwilioPath}
}

// startBenchParts starts the model, a relay, and a gateway with all transports and the default settings
// but for the detection.
func startBenchParts(ctx context.Context, detection string) (*benchParts, error) {
	p := &benchParts{}
	model, err := p.start(ctx, "model")
	if err != nil {
		return nil, err
	}
	p.model = model.URL
	if p.relay, err = p.start(ctx, "relay", p.model); err == nil {
		p.gateway, err = p.start(ctx, "gateway", "--listen", loopback, "--admin-listen", loopback,
			"--model-base-url", strings.Replace(p.model, "http", "ws", 1), "--calls-max", fmt.Sprint(2*bench.CallsMax),
			"--endpoints", "webrtc,twilio", "--detection", detection, "--access-cpu-max", "200", "--access-late-max", "1m")
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

const (
	loopback      = "127.0.0.1:0"
	benchPatience = 2 * time.Minute // for a process to start; the gateway may prove its nets first
	adminIsAt     = "the admin listener is at "
	metricsPath   = "/metrics"
)

func (p *benchParts) stop() {
	for _, part := range slices.Backward(p.running) {
		part.stop()
	}
}

// benchPart is a process. It ends when its input does, so none is left when bench is killed.
type benchPart struct {
	name  string
	cmd   *exec.Cmd
	input io.Closer
	reads sync.WaitGroup

	mu    sync.Mutex
	lines []string // the last ones of its stderr
	found chan string
}

// start starts a part and waits until it listens.
func (p *benchParts) start(ctx context.Context, name string, args ...string) (at bench.Endpoint, err error) {
	self, err := os.Executable()
	if err != nil {
		return at, fmt.Errorf("start the %s: %w", name, err)
	}
	part := &benchPart{name: name, found: make(chan string, 2), cmd: exec.Command(self, append([]string{"bench", "part",
		name, "--"}, args...)...)}
	part.cmd.Env = benchEnviron(os.Environ())
	if err := part.run(); err != nil {
		return at, fmt.Errorf("start the %s: %w", name, err)
	}
	p.running = append(p.running, part)
	patience := time.NewTimer(benchPatience)
	defer patience.Stop()
	for at.URL == "" || at.Metrics == "" {
		select {
		case line, ok := <-part.found:
			if !ok {
				return at, fmt.Errorf("the %s ended: %s", name, part.said())
			}
			if admin, ok := strings.CutPrefix(line, adminIsAt); ok {
				at.Metrics = strings.TrimSuffix(admin, "/") + metricsPath
			} else {
				at.URL = strings.TrimSuffix(line, "/")
			}
		case <-patience.C:
			return at, fmt.Errorf("the %s does not listen after %v: %s", name, benchPatience, part.said())
		case <-ctx.Done():
			return at, ctx.Err()
		}
	}
	return at, nil
}

// benchEnviron is the environment of a part: nothing that changes what it does.
func benchEnviron(environ []string) []string {
	kept := []string{"PATH", "HOME", "XDG_CACHE_HOME", "TMPDIR", "GOGC", "GOMAXPROCS", "GODEBUG"}
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(kept, name)
	})
}

// run starts the process and those who read what it says.
func (b *benchPart) run() error {
	stdin, err := b.cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := b.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := b.cmd.StderrPipe()
	if err != nil {
		return err
	}
	b.input = stdin
	if err := b.cmd.Start(); err != nil {
		return err
	}
	var readers sync.WaitGroup
	readers.Go(func() { b.scan(stdout, regexp.MustCompile(`http://127\.0\.0\.1:\d+/?`)) })
	readers.Go(func() { b.scan(stderr, regexp.MustCompile(`^`+adminIsAt+`\S+`)) })
	b.reads.Go(func() {
		readers.Wait()
		close(b.found)
	})
	return nil
}

// scan passes on the first match, and keeps the last lines.
func (b *benchPart) scan(r io.Reader, want *regexp.Regexp) {
	const linesMax = 5
	found := false
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if m := want.FindString(lines.Text()); m != "" && !found {
			found = true
			b.found <- m
		}
		b.mu.Lock()
		if b.lines = append(b.lines, lines.Text()); len(b.lines) > linesMax {
			b.lines = b.lines[1:]
		}
		b.mu.Unlock()
	}
	_, _ = io.Copy(io.Discard, r) // after a line that is too long
}

func (b *benchPart) said() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.lines, "\n")
}

// stop ends the process.
func (b *benchPart) stop() {
	const grace = 15 * time.Second // the gateway ends calls that are left
	_ = b.input.Close()
	kill := time.AfterFunc(grace, func() { _ = b.cmd.Process.Kill() })
	defer kill.Stop()
	b.reads.Wait()
	_ = b.cmd.Wait()
}

// benchPartCommand runs one of the processes of a bench.
func benchPartCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "part NAME",
		Short:  "run a process of a bench until its input ends",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || !slices.Contains([]string{"gateway", "relay", "model"}, args[0]) {
				return usagef("want a part: gateway, relay or model")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			go func() { // ends with the process
				_, _ = io.Copy(io.Discard, os.Stdin)
				stop()
			}()
			stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
			switch args[0] {
			case "gateway":
				serve := serveCommand()
				serve.SetArgs(args[1:])
				serve.SetOut(stdout)
				serve.SetErr(stderr)
				serve.SilenceErrors, serve.SilenceUsage = true, true
				return serve.ExecuteContext(ctx)
			case "relay":
				if len(args) != 2 {
					return usagef("want the URL of the model")
				}
				return servePart(ctx, &relay.Relay{Model: args[1]}, stdout, stderr)
			}
			m, err := bench.NewModel(2 * bench.CallsMax)
			if err != nil {
				return err
			}
			defer func() { _ = m.Close() }()
			return servePart(ctx, m, stdout, stderr)
		},
	}
}

// servePart serves a handler and the metrics of the process on this machine until ctx is done. It
// collects garbage as serve does.
func servePart(ctx context.Context, h http.Handler, stdout, stderr io.Writer) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET "+metricsPath, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	profiles(mux)
	mux.Handle("/", h)
	listener, err := net.Listen("tcp", loopback)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	url := "http://" + listener.Addr().String()
	fmt.Fprintln(stdout, url)
	fmt.Fprintln(stderr, adminIsAt+url)
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) })
	<-ctx.Done()
	err = server.Close()
	serving.Wait()
	return err
}
