package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/live/sim"
)

// checkTogether refuses settings that are right one by one and wrong together.
func (c *configuration) checkTogether(o *options) {
	c.checkSpeech(o)
	c.checkTLS(o)
	c.checkModel(o)
	c.checkDoor(o)
	c.noteIdle(o)
}

// noteIdle notes settings that have no effect because of others. That is no mistake: another run may use them.
func (c *configuration) noteIdle(o *options) {
	for i := range c.table {
		key := c.table[i].key
		v, ok := c.given[key]
		if why := o.idle(key); ok && v.text != "" && v.text != c.table[i].def && why != "" {
			o.notes = append(o.notes, fmt.Sprintf("%s (from %s) has no effect: %s", key, v.from.name, why))
		}
	}
}

// idle says why a setting has no effect, "" for one that has.
func (o *options) idle(key string) string {
	section, _, _ := strings.Cut(key, ".")
	if slices.Contains(doorNames(), section) && !slices.Contains(o.doors.open, section) {
		return "doors does not name " + section
	}
	switch key {
	case "prompts.filler", "timing.filler_after", "timing.tool_timeout":
		if o.session.toolsFile == "" {
			return "session.tools_file names no tools"
		}
	case "timing.linger", "timing.linger_once", "timing.linger_again", "timing.linger_lasts":
		if !o.timing.Adaptive {
			return "session.adaptive is false"
		}
	case "prompts.ask_consent", "timing.consent_wait":
		if !o.timing.Consent {
			return "session.consent is false"
		}
	case "prompts.reprompt", "timing.goodbye_after":
		if o.timing.RepromptAfter == 0 {
			return "timing.reprompt_after is 0"
		}
	}
	return ""
}

// checkSpeech wants no more frames of speech than the window that counts them has.
func (c *configuration) checkSpeech(o *options) {
	a := &o.speech
	if a.StartFrames > a.StartWindow {
		c.refuse("speech.start_frames", atMost(a.StartFrames, "speech.start_window", a.StartWindow))
	}
	if a.RaisedStartFrames-a.StartFrames+a.StartWindow > 64 {
		c.refuse("speech.raised_start_frames", "at most 64 frames less what speech.start_window exceeds start_frames by")
	}
	if a.ConfirmFrames > a.ConfirmWindow {
		c.refuse("speech.confirm_frames", atMost(a.ConfirmFrames, "speech.confirm_window", a.ConfirmWindow))
	}
}

// atMost says what both are, because either may be a default.
func atMost(frames int, window string, length int) string {
	return fmt.Sprintf("at most %s: %d frames of %d cannot be", window, frames, length)
}

func (c *configuration) checkTLS(o *options) {
	t := &o.tls
	switch {
	case len(t.acme.hosts) > 0 && (t.selfSigned || t.certFile != "" || t.keyFile != ""):
		c.refuse("tls.acme_hosts", "either this, or tls.self_signed, or tls.cert_file and tls.key_file")
	case t.selfSigned && (t.certFile != "" || t.keyFile != ""):
		c.refuse("tls.self_signed", "either this, or tls.cert_file and tls.key_file")
	case t.certFile == "" && t.keyFile != "":
		c.refuse("tls.key_file", "tls.cert_file beside it")
	case t.certFile != "" && t.keyFile == "":
		c.refuse("tls.cert_file", "tls.key_file beside it")
	case t.certFile != "":
		if _, err := tls.LoadX509KeyPair(t.certFile, t.keyFile); err != nil {
			c.refuse("tls.cert_file", "a certificate that fits tls.key_file: "+err.Error())
		}
	}
}

// checkModel lets package live look at what would be sent, without sending it: it refuses a wrong setup before it
// dials, and with this context it does not dial.
func (c *configuration) checkModel(o *options) {
	if !c.checkService(o) {
		return
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	wire := o.wire()
	switch {
	case o.embedded():
		wire.BaseURL = "ws://127.0.0.1:1"
	case wire.Vertex != nil:
		wire.Vertex.Token = func(ctx context.Context) (string, error) { return "", ctx.Err() }
	}
	_, err := wire.Dial(over, o.setup())
	var wrong *live.SetupError
	if !errors.As(err, &wrong) {
		return
	}
	for field, key := range map[string]string{
		"Setup.Model": "model.name", "Wire.BaseURL": "model.base_url", "Setup.Voice": "voice",
		"Setup.Language": "language", "Setup.SystemInstruction": "instructions", "Wire.APIKey": "model.key_file",
		"Vertex.Project": "vertex.project", "Vertex.Location": "vertex.location",
	} {
		switch {
		case field != wrong.Field:
		case key != "model.key_file" || c.given[key].from.rank != 0:
			c.refuse(key, wrong.Want)
		default:
			c.wrong = append(c.wrong, errors.New("GEMINI_API_KEY is "+wrong.Value+"; want "+wrong.Want))
		}
	}
}

// checkService wants what the model's service asks for: a key, or a project with its location.
func (c *configuration) checkService(o *options) bool {
	m := &o.model
	key, want := "", ""
	switch {
	case m.project == "" && m.location != "":
		key, want = "vertex.location", "vertex.project beside it"
	case m.project != "" && m.location == "":
		key, want = "vertex.project", "vertex.location beside it, such as europe-west4 or global"
	case m.project != "" && m.keyFile != "":
		key, want = "model.key_file", "either this, or vertex.project, which takes the application default credentials"
	case m.project != "" && m.name == "":
		key, want = "model.name", "a Live model of Vertex AI beside vertex.project; they are not those of the Gemini API"
	case !o.paid() && m.baseURL == "" && m.name != "" && m.name != sim.ModelName:
		key, want = "model.name", "an API key for it, in GEMINI_API_KEY or model.key_file, or vertex.project; without one "+
			"there is "+sim.ModelName+", the embedded model"
	case m.sdk && !o.embedded() && !o.paid():
		key, want = "model.dialer", "wire, or an API key: without one Google's client library looks for one elsewhere"
	}
	if key != "" {
		c.refuse(key, want)
	}
	return key == ""
}

// checkDoor refuses to let strangers talk at the owner's expense.
func (c *configuration) checkDoor(o *options) {
	if o.exposed(o.listen) {
		c.refuse("listen", "a loopback address such as "+listenDefault+", because there is a real API key or "+
			"project and no authentication: whoever reaches this address could talk at your expense. access.secret_file or "+
			"access.jwks lets those in who have a call token; --insecure allows it to everybody")
	}
	if o.reusePort && !canReusePort {
		c.refuse("reuse_port", "false: this system cannot")
	}
}

// exposed reports whether strangers who reach an address could talk at the owner's expense.
func (o *options) exposed(address string) bool {
	return o.paid() && !o.embedded() && !o.insecure && !o.access.wanted() && !loopback(address)
}

// loopback reports whether only this machine reaches an address to listen on.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
