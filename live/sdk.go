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
	// stuckMax bounds the dials of an SDK that were given up but have not ended.
	stuckMax = 64
	// sdkSilence is how much audio may be sent without an answer: Google's client cannot ping.
	sdkSilence = time.Minute
)

// SDK is a Dialer that lets Google's own client library speak. It does what a Wire does, at three to nine times
// the cost, for those who must use that library; the differences are in docs/model.md. A pointer to the zero value and
// a key work. It must not be copied once it has dialled.
type SDK struct {
	// Wire says where and as whom to dial, and the limits. HTTPClient must be nil: the library has its own. PingInterval
	// is not used: the library cannot ping; SilenceTimeout is instead how much audio may be sent without any message in
	// return before the connection is given up. Default: a minute.
	Wire Wire

	stuck atomic.Int32
}

// Dial implements Dialer. Its error is a *SetupError when the settings or s are wrong, otherwise a *CloseError. The
// library goes on dialling when ctx ends: what it reaches then is closed at once, and after 64 such dials that have not
// ended SDK dials no more.
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

// check refuses also what the library would refuse late, or not carry out.
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
	case len(s.History) > 0 && AbilitiesOf(s.Model).askToHistory:
		return fieldError("Setup.History", fmt.Sprintf("%d turns", len(s.History)),
			"none: Google's client library cannot announce history, which "+s.Model+" wants")
	}
	return nil
}

// client makes the library's client. Its base URL is ws or wss already: it would make wss of http.
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

// fixedToken is an auth.TokenProvider.
type fixedToken string

// Token implements auth.TokenProvider.
func (t fixedToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(t)}, nil
}

// connect dials, sends the setup and waits for its answer.
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
	if _, err := c.session.Receive(); err != nil { // the setup's answer, again
		_ = c.session.Close()
		return nil, c.fail(c.explain(ctx, err))
	}
	c.phase = phaseCall
	return c, nil
}

// errStuck says that too many dials hang.
var errStuck = fmt.Errorf("%d dials were given up and have not ended", stuckMax)

// open calls Connect, which does not mind ctx and may wait for ever: then its result, should there ever be one, is
// closed by the goroutine that waits for it.
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

// config is the setup in the library's terms. It must say what message says.
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

// dialError explains a Connect that failed.
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
