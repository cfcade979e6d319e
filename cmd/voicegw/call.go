package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/ws"
	"github.com/voicegw/voicegw/transport/ws/wsclient"
)

// callOptions are the flags of call.
type callOptions struct {
	url, in, out, bargeIn, echo       string
	language, instructions, detection string
	halfDuplex, json, consent         bool
	ca                                string
	max                               time.Duration
}

func callCommand() *cobra.Command {
	o := &callOptions{}
	cmd := &cobra.Command{
		Use:   "call",
		Short: "make a call with a WAV as the caller",
		Long: "call sends a WAV to a gateway in real time, as a caller who speaks. If the model speaks first, call waits\n" +
			"until it has finished. After the WAV, call stays silent until the reply is over and 2 s have passed without\n" +
			"sound. It prints what it heard and how long it waited.",
		Example: "  voicegw call --in speech.wav --out heard.wav\n" +
			"  " + tokenVariable + "=$(voicegw token --access-secret-file secret) voicegw call --in speech.wav\n" +
			"  voicegw call --in speech.wav --barge-in over.wav@2s --json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.url, "url", "ws://"+settings.ListenDefault+"/v1/voice", "the gateway's `URL`")
	f.StringVar(&o.in, "in", "", "what the caller says: a `WAV` of 16-bit PCM (required)")
	f.StringVar(&o.out, "out", "", "write what the caller hears to this `WAV`")
	f.StringVar(&o.bargeIn, "barge-in", "",
		"speak over a reply once so much of it was played: `WAV@TIME`, such as over.wav@2s")
	f.StringVar(&o.echo, "echo", "", "mix the reply into the caller's audio with `DELAY,LEVEL`: 120ms,-15dB")
	f.DurationVar(&o.max, "max", wsclient.MaxDefault, "hang up after this long, at most 1h")
	outputFlag(cmd, &o.json, "one object")
	f.StringVar(&o.language, "language", "", "ask for this language, a BCP 47 tag")
	f.StringVar(&o.instructions, "instructions", "", "ask for the instructions of this `name`")
	f.StringVar(&o.detection, "detection", "",
		"ask that the gateway or the model detects speech, or hold a button while the WAV plays (push)")
	f.BoolVar(&o.halfDuplex, "half-duplex", false, "ask for a call in which the caller cannot interrupt a reply")
	f.BoolVar(&o.consent, "consent", false, "give consent when the gateway asks for it, and speak then")
	f.StringVar(&o.ca, "tls-ca", "", "trust the certificates in this PEM `file` for wss, besides the system's")
	f.SortFlags = false
	complete(cmd, "detection", detections()...)
	return cmd
}

// detections are the values of --detection.
func detections() []string { return []string{"gateway", "model", "push"} }

// detection returns what the protocol calls a value of --detection. Earlier versions took the words of the protocol.
func detection(value string) (transport.Detection, error) {
	var renamed string
	switch value {
	case "":
		return transport.DetectionDefault, nil
	case "gateway":
		return transport.DetectionGatewayVAD, nil
	case "model":
		return transport.DetectionModelVAD, nil
	case "push":
		return transport.DetectionPush, nil
	case string(transport.DetectionGatewayVAD):
		renamed = "gateway"
	case string(transport.DetectionModelVAD):
		renamed = "model"
	default:
		return "", usagef("--detection is %q; want one of %s", value, strings.Join(detections(), ", "))
	}
	return "", usagef("--detection is %q; want %s, the new name of %s", value, renamed, value)
}

// tokenVariable is the environment variable with the call token. Other users can read the arguments
// of a process, so there is no flag.
const tokenVariable = "VOICEGW_CALL_TOKEN"

// run makes the call and prints its report.
func (o *callOptions) run(ctx context.Context, stdout, stderr io.Writer) error {
	cfg, err := o.config()
	if err != nil {
		return err
	}
	out, err := createOutput(o.out)
	if err != nil {
		return err
	}
	defer out.abandon()
	report, failed := wsclient.Call(ctx, cfg)
	if failed != nil && report.Closed == "" {
		return failed
	}
	if err := out.write(report.Heard); err != nil {
		return err
	}
	if err := o.print(stdout, stderr, &report); err != nil {
		return err
	}
	switch {
	case failed != nil:
		return failed
	case report.Reason != transport.ReasonCallerHungUp && report.Reason != transport.ReasonDone:
		return fmt.Errorf("the gateway ended the call: %s (%s)", report.Message, report.Closed)
	}
	return nil
}

// config reads the flags and the files that they name.
func (o *callOptions) config() (wsclient.Config, error) {
	cfg := wsclient.Config{URL: o.url, Max: o.max, Consent: o.consent, Hello: transport.Hello{
		Language: o.language, Instructions: o.instructions,
		HalfDuplex: o.halfDuplex, Client: "voicegw call", Token: os.Getenv(tokenVariable),
	}}
	var err error
	if cfg.Hello.Detection, err = detection(o.detection); err != nil {
		return cfg, err
	}
	if o.in == "" {
		return cfg, usagef("--in is missing; want a WAV of what the caller says")
	}
	if o.max <= 0 || o.max > wsclient.MaxMax {
		return cfg, usagef("--max is %v; want more than 0, at most 1h", o.max)
	}
	if cfg.In, err = readWAV(o.in); err != nil {
		return cfg, fmt.Errorf("--in: %w", err)
	}
	if o.bargeIn != "" {
		name, after, err := wsclient.ParseBargeIn(o.bargeIn)
		if err != nil {
			return cfg, &usageError{err}
		}
		cfg.BargeIn.After = after
		if cfg.BargeIn.PCM, err = readWAV(name); err != nil {
			return cfg, fmt.Errorf("--barge-in: %w", err)
		}
	}
	if o.echo != "" {
		if cfg.Echo, err = wsclient.ParseEcho(o.echo); err != nil {
			return cfg, &usageError{err}
		}
	}
	cfg.Dial, err = o.dial()
	return cfg, err
}

// dial returns the options of the connection.
func (o *callOptions) dial() (ws.DialConfig, error) {
	if o.ca == "" {
		return ws.DialConfig{}, nil
	}
	pem, err := os.ReadFile(o.ca)
	if err != nil {
		return ws.DialConfig{}, fmt.Errorf("--tls-ca: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return ws.DialConfig{}, usagef("--tls-ca: %s has no certificate in PEM", o.ca)
	}
	return ws.DialConfig{TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}, nil
}

// print prints the report as JSON or for people.
func (o *callOptions) print(stdout, stderr io.Writer, r *wsclient.Report) error {
	if o.json {
		return json.NewEncoder(stdout).Encode(r)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(stderr, "note:", note)
	}
	_, err := io.WriteString(stdout, o.summary(r))
	return err
}

func (o *callOptions) summary(r *wsclient.Report) string {
	var b strings.Builder
	who := r.Ready.Model.Name
	if r.Ready.Model.Embedded {
		who += " (embedded)"
	}
	fmt.Fprintf(&b, "connected    in %d ms, model %s\n", r.ConnectedMS, who)
	switch r.Consent {
	case "asked":
		b.WriteString("consent      asked for and not given, so the input gate stayed closed; --consent gives it\n")
	case "given":
		b.WriteString("consent      asked for and given\n")
	}
	fmt.Fprintf(&b, "replies      %d", r.Turns)
	if len(r.FirstAudioMS) > 0 {
		fmt.Fprintf(&b, ", first heard %s after the caller had finished", milliseconds(r.FirstAudioMS))
	}
	fmt.Fprintf(&b, "\ninterrupted  %d", r.Interruptions)
	if len(r.BargeInSilenceMS) > 0 {
		fmt.Fprintf(&b, ", silent %s after the caller began", milliseconds(r.BargeInSilenceMS))
	}
	fmt.Fprintf(&b, "\nframes       %d sent, %d received, %d cleared\n", r.FramesSent, r.FramesReceived, r.FramesCleared)
	heard := time.Duration(len(r.Heard.Samples)) * time.Second / time.Duration(max(r.Heard.RateHz, 1))
	fmt.Fprintf(&b, "listened     %.1f s", heard.Seconds())
	if o.out != "" {
		fmt.Fprintf(&b, ", written to %s", o.out)
	}
	fmt.Fprintf(&b, "\nclosed       %s: %s\n", r.Closed, r.Message)
	return b.String()
}

func milliseconds(list []int64) string {
	words := make([]string, len(list))
	for i, ms := range list {
		words[i] = fmt.Sprint(ms)
	}
	return strings.Join(words, ", ") + " ms"
}
