package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/web"
)

func serveCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "take calls: the page, /v1/voice, /healthz and /readyz",
		Long: "serve takes calls and prints the address of its page.\n\n" +
			"Without a key it starts the embedded model, a parrot, and nothing leaves this machine. With GEMINI_API_KEY in\n" +
			"the environment the calls go to Gemini Live.\n\n" +
			"A setting can be given as a flag, as an environment variable (VOICEGW_MODEL_NAME for --model-name), or in a\n" +
			"YAML file (section model, key name); the first that is there counts. docs/configuration.md explains them all.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := configure(cmd.Flags(), os.Environ())
			if err != nil {
				return err
			}
			return serve(cmd.Context(), o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addSettingFlags(cmd)
	return cmd
}

// serving is a gateway that takes calls.
type serving struct {
	o         *options
	log       *zap.Logger
	gw        *voicegw.Gateway
	guard     *access.Guard
	load      *access.Load
	gate      *gate
	door      *door
	protocols *protocols
}

// serve takes calls until ctx is done, and then ends them.
func serve(ctx context.Context, o *options, stdout, stderr io.Writer) (err error) {
	signal.Ignore(syscall.SIGPIPE) // whoever reads the log may die
	written := newLogWriter(stderr)
	defer written.close()
	stderr = written
	log := newLogger(o.log, written)
	if err := makeRecords(o.record); err != nil {
		return err
	}
	m, err := openModel(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	s, err := newServing(o, m, log)
	if err != nil {
		return &usageError{err}
	}
	gw := s.gw
	if err := s.start(ctx, stderr); err != nil {
		_ = gw.Close()
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(gw.Metrics(), newGuardMetrics(s.guard), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(logMetrics(written)...)
	admin, err := openAdmin(o, s.gate, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), log)
	if err != nil {
		_ = s.door.listener.Close()
		_ = gw.Close()
		return err
	}
	defer admin.close()
	fmt.Fprintf(stdout, "voicegw is at %s  (%s)\n", s.door.url, m.where)
	if admin != nil {
		fmt.Fprintf(stderr, "the admin listener is at %s\n", admin.url())
	}
	for _, note := range slices.Concat(s.door.notes, o.notes) {
		fmt.Fprintln(stderr, note)
	}
	return s.until(ctx)
}

// newServing builds the gateway and its admission guard; the gateway reports net lateness to the guard. An error is a
// mistake in the settings.
func newServing(o *options, m *model, log *zap.Logger) (*serving, error) {
	guard, load, err := o.guard()
	if err != nil {
		return nil, err
	}
	cfg := o.gateway(m, log)
	cfg.Lateness = load.Late
	cfg.Guard = func(l transport.Lines) transport.Lines { return access.NewLines(l, guard) }
	if err := o.readSession(&cfg); err != nil {
		return nil, err
	}
	gw, err := voicegw.New(cfg)
	var setup *live.SetupError
	if errors.As(err, &setup) && strings.HasPrefix(setup.Field, "Setup.Tools") {
		err = fmt.Errorf("session.tools_file %s: %w", o.session.toolsFile, err)
	}
	return &serving{o: o, log: log, gw: gw, guard: guard, load: load}, err
}

// start opens the doors, so that a mistake in what they need is told first, and listens when the nets are proved.
func (s *serving) start(ctx context.Context, stderr io.Writer) error {
	if err := s.open(); err != nil {
		return err
	}
	if err := prove(ctx, s.gw, stderr); err != nil {
		return errors.Join(err, s.protocols.Close())
	}
	return s.listen()
}

// listen listens, and takes no call yet.
func (s *serving) listen() (err error) {
	s.door, err = openDoor(s.o, s.gate, s.log)
	return err
}

// open opens the doors: every one of them takes its calls through the guard.
func (s *serving) open() (err error) {
	if s.protocols, err = s.o.openProtocols(s.gw.Lines(), s.log); err != nil {
		return &usageError{err}
	}
	s.gate = &gate{next: s.protocols.before(routes(web.Handler(web.Config{}), s.gw.Voice(), s.gw))}
	return nil
}

// until serves until ctx is done, lets the calls come to their end, and ends those that do not.
func (s *serving) until(ctx context.Context) (err error) {
	var running sync.WaitGroup
	failed := make(chan error, 1)
	running.Go(func() { failed <- s.door.serve() })
	looking, look := context.WithCancel(context.WithoutCancel(ctx))
	running.Go(func() { s.load.Run(looking) })
	select {
	case <-ctx.Done():
		s.drain(signalOf(ctx))
	case err = <-failed:
		err = fmt.Errorf("take calls: %w", err)
	}
	look()
	ended := shutDown(s.o, s.door, s.gw, s.log)
	if ended == nil {
		ended = s.protocols.Close() // nothing is left to wait for
	}
	err = errors.Join(err, ended)
	running.Wait()
	return err
}

// requestGrace is how long requests that are no calls may still take when the calls have ended.
const requestGrace = 2 * time.Second

// shutDown takes no more calls and tells the running ones, all within the configured time.
func shutDown(o *options, d *door, gw *voicegw.Gateway, log *zap.Logger) error {
	limit, cancel := context.WithTimeout(context.Background(), o.limits.shutdownTimeout)
	defer cancel()
	log.Info("ending", zap.Int("calls", gw.Calls()))
	told, closed := make(chan struct{}), make(chan struct{})
	go func() { // ends with the calls, or with the process
		_ = gw.Close()
		close(told)
	}()
	requests, giveUp := context.WithCancel(limit)
	defer giveUp()
	go func() {
		d.close(requests)
		close(closed)
	}()
	var err error
	select {
	case <-told:
		time.AfterFunc(requestGrace, giveUp)
	case <-limit.Done():
		err = fmt.Errorf("%d calls did not end within %v", gw.Calls(), o.limits.shutdownTimeout)
	}
	<-closed
	return err
}

// gateway is the gateway's configuration.
func (o *options) gateway(m *model, log *zap.Logger) voicegw.Config {
	show := loopback(o.listen)
	if o.showNet != nil {
		show = *o.showNet
	}
	return voicegw.Config{
		Dialer:       m.dialer(),
		Model:        m.told,
		Setup:        o.setup(),
		Instructions: o.instructions,
		Greeting:     o.greetingFor(m),
		Detection:    o.detection,
		Net:          o.timing,
		Activity:     o.speech,
		CallsMax:     o.callsMax,

		TypedPerMinute:       o.limits.typedPerMinute,
		HandshakesMax:        o.limits.handshakesMax,
		HandshakesPerAddress: min(o.limits.handshakesPerAddress, o.limits.handshakesMax),

		DialTimeout: o.limits.dialTimeout + dialGrace,
		ShowNet:     show,
		Record:      recordIn(o.record),
		RecordLoss:  o.recordLoss,
		Log:         log,
		WS:          o.webSocket(),
		Hooks:       voicegw.Hooks{Begin: asGranted(o.setup())},
	}
}

// asGranted plans a call as its token says: the model, and the tools it may use.
func asGranted(setup live.Setup) func(context.Context, *transport.Hello) (*voicegw.Plan, error) {
	return func(ctx context.Context, _ *transport.Hello) (*voicegw.Plan, error) {
		grant := access.GrantOf(ctx)
		if grant == nil {
			return nil, nil
		}
		p := &voicegw.Plan{Allow: grant.Allows}
		if grant.Model != "" {
			own := setup
			own.Model = grant.Model
			p.Setup = &own
		}
		return p, nil
	}
}

// webSocket is the configuration of the door of /v1/voice.
func (o *options) webSocket() ws.Config {
	return ws.Config{
		Hosts:           o.hosts,
		Origins:         o.origins,
		HelloTimeout:    o.limits.helloTimeout,
		WriteTimeout:    o.limits.writeTimeout,
		PingInterval:    o.limits.pingInterval,
		IdleTimeout:     o.limits.idleTimeout,
		MessageBytesMax: o.limits.messageBytesMax,
	}
}
