package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
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

// serve takes calls until ctx is done, and then ends them.
func serve(ctx context.Context, o *options, stdout, stderr io.Writer) (err error) {
	log := newLogger(o.log, stderr)
	if err := makeRecords(o.record); err != nil {
		return err
	}
	m, err := openModel(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	gw, err := voicegw.New(o.gateway(m, log))
	if err != nil {
		return &usageError{err}
	}
	if err := prove(ctx, gw, stderr); err != nil {
		_ = gw.Close()
		return err
	}
	d, err := openDoor(o, gw, web.Handler(web.Config{}), log)
	if err != nil {
		_ = gw.Close()
		return err
	}
	fmt.Fprintf(stdout, "voicegw is at %s  (%s)\n", d.url, m.where)
	for _, note := range d.notes {
		fmt.Fprintln(stderr, note)
	}
	var serving sync.WaitGroup
	failed := make(chan error, 1)
	serving.Go(func() { failed <- d.serve() })
	select {
	case <-ctx.Done():
		err = nil
	case err = <-failed:
		err = fmt.Errorf("take calls: %w", err)
	}
	err = errors.Join(err, shutDown(o, d, gw, log))
	serving.Wait()
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
		Dialer:       m.wire,
		Model:        m.told,
		Setup:        o.setup(),
		Instructions: o.instructions,
		Greeting:     o.greetingFor(m),
		Detection:    o.detection,
		Net:          o.timing,
		Activity:     o.speech,
		CallsMax:     o.callsMax,
		DialTimeout:  o.limits.dialTimeout + dialGrace,
		ShowNet:      show,
		Record:       recordIn(o.record),
		Log:          log,
		WS: ws.Config{
			Hosts:           o.hosts,
			Origins:         o.origins,
			HelloTimeout:    o.limits.helloTimeout,
			WriteTimeout:    o.limits.writeTimeout,
			PingInterval:    o.limits.pingInterval,
			IdleTimeout:     o.limits.idleTimeout,
			MessageBytesMax: o.limits.messageBytesMax,
		},
	}
}
