package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/telemetry"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/web"
)

func serveCommand() *cobra.Command {
	var check, asJSON bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "take calls",
		Long: "serve takes calls and prints the address of its page. Callers use the page, /v1/voice, or the\n" +
			"endpoints that you open with --endpoints.\n\n" +
			"Without a key it starts the embedded model, a parrot, and nothing leaves this machine. With GEMINI_API_KEY in\n" +
			"the environment, calls go to Gemini Live.\n\n" +
			"A setting is a flag (--model-name), an environment variable (VOICEGW_MODEL_NAME) or a key of a YAML file\n" +
			"(name, in the section model). A flag wins over a variable, and a variable over the file.\n" +
			"docs/configuration.md explains all settings.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read := func() (*settings.Settings, error) { return configure(cmd.Flags(), os.Environ()) }
			s, err := read()
			if check {
				return checkServe(cmd.Context(), s, err).report(cmd.OutOrStdout(), asJSON)
			}
			if err != nil {
				return err
			}
			return serve(cmd.Context(), s, read, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "do what serve does before the first call, print what it finds, and exit")
	outputFlag(cmd, &asJSON, "with --check, the checks")
	addSettingFlags(cmd, settings.Rows())
	return cmd
}

// serving is a gateway with its guard, its server and its endpoints.
type serving struct {
	settings  *settings.Settings
	log       *zap.Logger
	audit     *zap.Logger
	gw        *voicegw.Gateway
	guard     *access.Guard
	load      *access.Load
	gate      *gate
	server    *server
	endpoints *endpoints
	sessions  *sessionsAPI // nil: not open
	model     *model
	rules     atomic.Pointer[callRules]
	proved    int      // nets of calls
	records   *records // nil: none are written
	archives  *archives
	webhooks  *webhooks
	// What a reload of functions keeps: those that agents answer, and whether calls have places for any.
	agentTools  []voicegw.Tool
	toolSlots   bool
	hookSecrets [sha256.Size]byte // of hookTools
	registry    *prometheus.Registry
	telemetry   *telemetry.Telemetry // nil: nothing is exported
}

// serve takes calls until ctx is done, and then ends them. read reads the settings again, for a reload.
func serve(ctx context.Context, set *settings.Settings, read func() (*settings.Settings, error),
	stdout, stderr io.Writer) (err error) {
	signal.Ignore(syscall.SIGPIPE) // the reader of the log may end
	hangups, stop := hangups()
	defer stop()
	written := newLogWriter(stderr)
	defer written.close()
	audited := newLogWriter(stderr)
	defer audited.close()
	stderr = written
	level := zap.NewAtomicLevelAt(set.Log.Level)
	log := newLoggerAt(level, set.Log, written)
	if err := errors.Join(makeArchives("archive", set.Archive),
		makeArchives("records.dir", set.Records.Dir)); err != nil {
		return err
	}
	m, err := openModel(set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	s, err := newServing(set, m, log, joinTelemetry)
	if err != nil {
		return &usageError{err}
	}
	s.audit = auditLog(set.Log, audited)
	gw := s.gw
	if err := s.start(ctx, stderr); err != nil {
		_ = gw.Close()
		return err
	}
	registry := s.registry
	registry.MustRegister(gw.Metrics(), newGuardMetrics(s.guard), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(logMetrics(written, audited)...)
	registry.MustRegister(proofMetrics(len(gw.Nets()), s.proved)...)
	registry.MustRegister(s.records.metrics(), collectorsOf(s.archives.metrics()))
	registry.MustRegister(newWebhookMetrics(s.webhooks), s.telemetry.Collector())
	admin, err := openAdmin(set, s.gate, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), s.operator(), log)
	if err != nil {
		_ = s.server.listener.Close()
		_ = gw.Close()
		return err
	}
	defer admin.close()
	fmt.Fprintf(stdout, "voicegw is at %s  (%s)\n", s.server.url, m.where)
	if admin != nil {
		fmt.Fprintf(stderr, "the admin listener is at %s\n", admin.url())
	}
	if s.sessions != nil {
		fmt.Fprintln(stderr, s.sessions.note(s.server.url))
		if note := s.sessions.flows.note(); note != "" {
			fmt.Fprintln(stderr, note)
		}
	}
	for _, note := range slices.Concat(s.server.notes, set.Notes) {
		fmt.Fprintln(stderr, note)
	}
	reload := &reloader{serving: s, admin: admin, level: level, read: read, now: set}
	return s.until(ctx, func(ctx context.Context) { reload.run(ctx, hangups) })
}

// newServing builds the gateway and its admission guard; the gateway reports net lateness to the
// guard. joins add what takes part in calls besides. An error is a mistake in the settings.
func newServing(set *settings.Settings, m *model, log *zap.Logger,
	joins ...func(*serving, *voicegw.Config) error) (*serving, error) {
	admission, err := set.Access()
	if err != nil {
		return nil, err
	}
	guard, err := access.New(admission)
	if err != nil {
		return nil, err
	}
	cfg, err := set.Gateway()
	if err != nil {
		return nil, err
	}
	cfg.Dialer, cfg.Model, cfg.Log = m.dialer(), m.info, log
	if cfg.Price, err = callPrice(set); err != nil {
		return nil, err
	}
	cfg.Lateness = admission.Load.Late
	cfg.Guard = func(l transport.Lines) transport.Lines { return access.NewLines(l, guard) }
	s := &serving{settings: set, log: log, audit: log, guard: guard, load: admission.Load, model: m}
	clients, _, err := clientRules(set, nil)
	if err != nil {
		return nil, err
	}
	s.rules.Store(&callRules{setup: cfg.Setup, session: cfg.Session, dialer: cfg.Dialer, instructions: cfg.Instructions,
		greeting: cfg.Greeting, clients: clients, targets: set.HandOff.Targets})
	cfg.Hooks = voicegw.Hooks{Begin: s.plan}
	if err := s.joinWebhooks(&cfg); err != nil {
		return nil, err
	}
	others := len(cfg.Tools)
	if err := s.joinAgents(&cfg); err != nil {
		return nil, err
	}
	s.agentTools = cfg.Tools[others:]
	s.toolSlots = len(cfg.Tools) > 0 || cfg.Session.Tools.Any() || cfg.Net.ToolSlots > 0
	s.records = newRecords(set, log)
	s.records.join(&cfg.Hooks)
	s.registry = prometheus.NewRegistry()
	if _, err := telemetryConfig(set, s.registry, log); err != nil {
		return nil, err
	}
	for _, join := range joins {
		if err := join(s, &cfg); err != nil {
			return nil, err
		}
	}
	s.gw, err = voicegw.New(cfg)
	s.archives = &archives{dir: set.Archive, limits: set.Records.Archives, runs: s.runs, log: log.Named("archives")}
	var setup *live.SetupError
	if errors.As(err, &setup) && strings.HasPrefix(setup.Field, "Setup.Tools") {
		err = fmt.Errorf("session.tools_file %s: %w", set.ToolsFile, err)
	}
	return s, err
}

// start opens the endpoints, proves the nets, and only then listens.
func (s *serving) start(ctx context.Context, stderr io.Writer) error {
	if err := s.open(); err != nil {
		return err
	}
	var err error
	if s.proved, err = proveNets(ctx, s.gw, stderr, s.log); err != nil {
		return errors.Join(err, s.endpoints.Close())
	}
	if s.sessions, err = openSessions(ctx, s.settings, s.guard, s.log, managed.Prove); err != nil {
		return errors.Join(err, s.endpoints.Close())
	}
	if err := s.checkAgents(ctx); err != nil {
		s.sessions.close(context.Background())
		return errors.Join(err, s.endpoints.Close())
	}
	s.gate.next = s.sessions.before(s.gate.next)
	if err := s.listen(); err != nil {
		s.sessions.close(context.Background())
		return err
	}
	if s.sessions != nil && s.sessions.flows != nil {
		s.sessions.flows.url = s.server.url
	}
	return nil
}

// listen opens the server, which takes no call yet.
func (s *serving) listen() (err error) {
	s.server, err = openServer(s.settings, s.gate, s.log)
	return err
}

// open opens the endpoints. All of them take their calls through the guard.
func (s *serving) open() (err error) {
	if s.endpoints, err = openEndpoints(s.settings, s.gw.Lines(), s.log); err != nil {
		return &usageError{err}
	}
	page := web.Config{}
	if s.settings.DataDir != "" {
		page.ChatPath = chatPath
	}
	s.gate = &gate{next: s.tenants(s.endpoints.before(routes(web.Handler(page), s.gw.Voice(), s.gw)))}
	s.gate.next = telemetry.Continue(s.gate.next)
	return nil
}

// until serves until ctx is done, waits for the calls to end, and ends those that do not. Meanwhile
// beside runs.
func (s *serving) until(ctx context.Context, beside func(context.Context)) (err error) {
	var running sync.WaitGroup
	failed := make(chan error, 1)
	running.Go(func() { failed <- s.server.serve() })
	looking, look := context.WithCancel(context.WithoutCancel(ctx))
	running.Go(func() { s.load.Run(looking) })
	running.Go(func() { beside(looking) })
	running.Go(func() { s.archives.run(looking) })
	recorded := s.records.start()
	select {
	case <-ctx.Done():
		s.drain(signalOf(ctx))
	case err = <-failed:
		err = fmt.Errorf("take calls: %w", err)
	}
	look()
	ended := shutDown(s.settings, s.server, s.gw, s.log)
	if ended == nil {
		ended = s.endpoints.Close() // no call is left
	}
	err = errors.Join(err, ended)
	running.Wait()
	recorded()
	s.webhooks.close()
	s.closeTelemetry()
	s.sessions.close(context.Background())
	return err
}

// requestGrace is how long other requests may take when all calls have ended.
const requestGrace = 2 * time.Second

// shutDown takes no more calls and ends those that run, within limits.shutdown_timeout.
func shutDown(set *settings.Settings, d *server, gw *voicegw.Gateway, log *zap.Logger) error {
	limit, cancel := context.WithTimeout(context.Background(), set.Limits.ShutdownTimeout)
	defer cancel()
	log.Info("ending", zap.Int("calls", gw.Calls()))
	ended, closed := make(chan struct{}), make(chan struct{})
	go func() { // ends with the calls, or with the process
		_ = gw.Close()
		close(ended)
	}()
	requests, giveUp := context.WithCancel(limit)
	defer giveUp()
	go func() {
		d.close(requests)
		close(closed)
	}()
	var err error
	select {
	case <-ended:
		time.AfterFunc(requestGrace, giveUp)
	case <-limit.Done():
		err = fmt.Errorf("%d calls did not end within %v", gw.Calls(), set.Limits.ShutdownTimeout)
	}
	<-closed
	return err
}
