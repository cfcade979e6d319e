package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"cloud.google.com/go/auth"
	"google.golang.org/genai"
)

const (
	// stuckMax is the most abandoned dials of an SDK that still run.
	stuckMax = 64
	// sdkSilence is how much audio may be sent without an answer, because the library cannot ping.
	sdkSilence = time.Minute
)

// SDK is a Dialer that uses Google's client library, for those who must. It does the same as a Wire
// at three to nine times the cost; docs/model.md lists the differences. It needs no more than a key
// in Wire. It must not be copied after its first Dial.
type SDK struct {
	// Wire has the address, the key and the limits. HTTPClient must be nil, because the library has
	// its own. PingInterval has no effect, because the library cannot ping. SilenceTimeout is how
	// much audio may be sent without any message from the model: default one minute.
	Wire Wire

	stuck atomic.Int32 // abandoned dials that still run
}

// Dial implements Dialer. The error is a *SetupError if a field of d.Wire or s is wrong, otherwise
// a *CloseError. The library cannot cancel a dial: when ctx ends, the dial goes on in the
// background and closes the connection that it opens. While 64 such dials run, Dial fails.
func (d *SDK) Dial(ctx context.Context, s Setup) (Conn, error) {
	w := d.Wire
	setDefault(&w.SilenceTimeout, sdkSilence)
	w = w.withDefaults()
	setDefault(&s.Model, w.Model)
	if err := d.check(&w, &s); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, w.HandshakeTimeout)
	defer cancel()
	c, err := d.connect(limited, &w, &s)
	if err != nil {
		return nil, blame(err, ctx, w.HandshakeTimeout)
	}
	c.start()
	if len(s.History) > 0 {
		history := s.history()
		if err := c.put(limited, &history); err != nil {
			_ = c.Close(1000, "")
			return nil, blame(err, ctx, w.HandshakeTimeout)
		}
	}
	return c, nil
}

// check also refuses what the library would refuse late or ignore.
func (d *SDK) check(w *Wire, s *Setup) error {
	if err := w.check(); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	switch {
	case w.HTTPClient != nil:
		return &SetupError{"Wire.HTTPClient", "set", "none: Google's client library has its own"}
	case w.APIKey == "" && w.Vertex == nil:
		return &SetupError{"Wire.APIKey", "empty", "a key: without one Google's client library looks for one elsewhere"}
	case len(s.History) > 0 && abilitiesOf(s.Model).announceHistory:
		return fieldError("Setup.History", fmt.Sprintf("%d turns", len(s.History)),
			"none: "+s.Model+" needs an announcement of history, which Google's client library cannot send")
	}
	return nil
}

// client returns a client of the library. Its base URL is already ws or wss, because the library
// would turn http into wss.
func (w *Wire) client(ctx context.Context, token string) (*genai.Client, error) {
	u, err := w.root()
	if err != nil {
		return nil, err
	}
	cfg := &genai.ClientConfig{APIKey: w.APIKey, Backend: genai.BackendGeminiAPI}
	cfg.HTTPOptions.BaseURL = u.String()
	switch {
	case w.Vertex != nil:
		cfg.Backend, cfg.Project, cfg.Location = genai.BackendVertexAI, w.Vertex.Project, w.Vertex.Location
		if token != "" {
			cfg.Credentials = auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: fixedToken(token)})
		}
	case w.ephemeral():
		cfg.HTTPOptions.APIVersion = "v1alpha"
	}
	return genai.NewClient(ctx, cfg)
}

// fixedToken is an auth.TokenProvider with one token.
type fixedToken string

// Token implements auth.TokenProvider.
func (t fixedToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(t)}, nil
}

// connect opens a session and waits for the answer to the setup.
func (d *SDK) connect(ctx context.Context, w *Wire, s *Setup) (*sdkConn, error) {
	u, err := w.address()
	if err != nil {
		return nil, err
	}
	token, err := w.token(ctx)
	c := newSDKConn(w, s, u.Host, w.APIKey+token)
	if err != nil {
		return nil, c.noToken(ctx, err)
	}
	client, err := w.client(ctx, token)
	if err != nil {
		return nil, c.fail(&CloseError{Class: ClassPayload, Err: err})
	}
	if c.session, err = d.open(ctx, client, w.fullModel(s.Model), s.config()); err != nil {
		return nil, c.dialError(ctx, err)
	}
	if _, err := c.session.Receive(); err != nil { // the answer to the setup, once more
		_ = c.session.Close()
		return nil, c.fail(c.explain(ctx, err))
	}
	c.phase = phaseCall
	return c, nil
}

var errStuck = fmt.Errorf("%d abandoned dials still run", stuckMax)

// open calls Connect, which ignores ctx and may block forever. If ctx ends first, the goroutine
// that waits for Connect closes its session.
func (d *SDK) open(ctx context.Context, client *genai.Client, model string, cfg *genai.LiveConnectConfig) (
	*genai.Session, error) {
	if d.stuck.Add(1) > stuckMax {
		d.stuck.Add(-1)
		return nil, errStuck
	}
	type result struct {
		session *genai.Session
		err     error
	}
	results := make(chan result)
	go func() {
		defer d.stuck.Add(-1)
		session, err := client.Live.Connect(context.WithoutCancel(ctx), model, cfg)
		select {
		case results <- result{session, err}:
		case <-ctx.Done():
			_ = session.Close()
		}
	}()
	select {
	case r := <-results:
		return r.session, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// config returns the setup as the library wants it. It must agree with message.
func (s *Setup) config() *genai.LiveConnectConfig {
	c := &genai.LiveConnectConfig{
		ResponseModalities:       []genai.Modality{genai.ModalityAudio},
		SpeechConfig:             s.speechConfig(),
		Temperature:              s.Temperature,
		Tools:                    s.tools(),
		SystemInstruction:        s.instruction(),
		RealtimeInputConfig:      s.detection(),
		SessionResumption:        &genai.SessionResumptionConfig{Handle: s.Handle},
		ContextWindowCompression: &genai.ContextWindowCompressionConfig{SlidingWindow: &genai.SlidingWindow{}},
		InputAudioTranscription:  transcription(!s.NoCallerTranscript),
		OutputAudioTranscription: transcription(!s.NoModelTranscript),
	}
	if s.MaxOutputTokens != nil {
		c.MaxOutputTokens = *s.MaxOutputTokens
	}
	return c
}

// dialError is the error of a failed Connect. Google's library formats the causes into the texts "Connect to ..." and
// "expected SetupComplete ..." and has no types for them; TestSDKRefused pins both.
func (c *sdkConn) dialError(ctx context.Context, err error) error {
	text := err.Error()
	var e *CloseError
	switch {
	case ctx.Err() != nil:
		e = &CloseError{Class: ctxClass(ctx.Err()), Err: ctx.Err(), limit: c.age()}
	case errors.Is(err, errStuck), strings.HasPrefix(text, "Connect to "):
		c.phase = phaseDial
		e = &CloseError{Class: ClassNetwork, Err: innermost(err)}
	case strings.HasPrefix(text, "expected SetupComplete"):
		e = &CloseError{Class: ClassPayload, Err: errors.New("another message came before setupComplete")}
	default:
		e = c.explain(ctx, err)
	}
	return c.fail(e)
}
