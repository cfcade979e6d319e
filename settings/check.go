package settings

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/voicegw/voicegw/live"
)

// checkTogether refuses settings that are valid one by one and contradict each other.
func (r *reader) checkTogether() {
	r.checkSpeech()
	r.checkTLS()
	r.checkModel()
	r.checkExposure()
	r.checkJournal()
	r.checkTURN()
	r.checkWebhooks()
	r.checkKeys()
	r.checkTelemetry()
	for i := range r.rows {
		r.noteIdle(&r.rows[i])
	}
}

// checkTURN checks that there is one kind of credentials for the TURN servers.
func (r *reader) checkTURN() {
	t := &r.WebRTC.TURN
	switch {
	case len(t.Servers) == 0:
		for _, given := range [][2]string{{"webrtc.turn_username", t.Username},
			{"webrtc.turn_credential_file", t.CredentialFile}, {"webrtc.turn_secret_file", t.SecretFile}} {
			if given[1] != "" {
				r.refuse(given[0], "webrtc.turn_servers beside it")
			}
		}
	case t.CredentialFile != "" && t.SecretFile != "":
		r.refuse("webrtc.turn_secret_file", "either this, or webrtc.turn_credential_file")
	case t.CredentialFile == "" && t.SecretFile == "":
		r.refuse("webrtc.turn_servers", "webrtc.turn_secret_file, or webrtc.turn_username and webrtc.turn_credential_file, "+
			"beside it")
	case t.CredentialFile != "" && t.Username == "":
		r.refuse("webrtc.turn_credential_file", "webrtc.turn_username beside it")
	}
}

// checkJournal checks where the sessions of agents are kept, and by whom they are served.
func (r *reader) checkJournal() {
	j := &r.Journal
	needs := func(key, value, want string) {
		if value != "" {
			r.refuse(key, want)
		}
	}
	if !r.HasSessions() {
		needs("agents", r.Agents, "data_dir or journal beside it, where the sessions of the agents are kept")
		needs("workflows", r.Workflow.Dir, "data_dir or journal beside it, where the runs of the workflows are kept")
		needs("after_call.agent", r.AfterCall.Agent, "data_dir or journal beside it, where its agent keeps its sessions")
		needs("advertise", j.Advertise, "data_dir and cluster.listen, or journal, beside it")
	}
	if r.DataDir != "" && j.URL != "" {
		r.refuse("journal", "either this, or data_dir")
	}
	if j.Replicas == 2 || j.Replicas == 4 || r.HasSessions() && j.Replicas > 1 && j.Listen == "" &&
		!strings.HasPrefix(j.URL, "nats:") {
		r.refuse("journal_replicas", "1, 3 or 5, of a NATS cluster")
	}
	switch {
	case j.Listen == "":
		if len(j.Routes) > 0 {
			r.refuse("cluster.routes", "cluster.listen beside it")
			return
		}
		needs("cluster.secret_file", j.SecretFile, "cluster.listen beside it")
		if r.DataDir != "" && j.URL == "" {
			needs("advertise", j.Advertise, "cluster.listen beside it: one process at a time may use a data_dir")
		}
	case r.DataDir == "":
		r.refuse("cluster.listen", "data_dir beside it, for this node's part of the journal")
	case j.Node == "" || j.Advertise == "" || len(j.Routes) == 0:
		r.refuse("cluster.listen", "node, advertise and cluster.routes beside it")
	case j.SecretFile == "" && !Loopback(j.Listen):
		r.refuse("cluster.listen", "a loopback address, or cluster.secret_file beside it: everybody could join")
	}
}

// noteIdle notes a setting without effect. It is not a mistake: another run may use it.
func (r *reader) noteIdle(row *Row) {
	v := r.given[row.Key]
	if row.idle != nil && v.text != "" && v.text != row.Default && row.idle() {
		r.Notes = append(r.Notes, fmt.Sprintf("%s (from %s) has no effect: %s", row.Key, v.from.name, row.because))
	}
}

// checkSpeech checks that no count of frames exceeds its window.
func (r *reader) checkSpeech() {
	a := &r.gateway.Activity
	if a.StartFrames > a.StartWindow {
		r.refuse("speech.start_frames", atMost(a.StartFrames, "speech.start_window", a.StartWindow))
	}
	if a.RaisedStartFrames-a.StartFrames+a.StartWindow > 64 {
		r.refuse("speech.raised_start_frames", "at most 64 - speech.start_window + speech.start_frames")
	}
	if a.ConfirmFrames > a.ConfirmWindow {
		r.refuse("speech.confirm_frames", atMost(a.ConfirmFrames, "speech.confirm_window", a.ConfirmWindow))
	}
}

// atMost names both values, because either may be a default.
func atMost(frames int, window string, length int) string {
	return fmt.Sprintf("at most %s: it is %d frames of %d", window, frames, length)
}

func (r *reader) checkTLS() {
	t := &r.TLS
	switch {
	case len(t.ACME.Hosts) > 0 && (t.SelfSigned || t.CertFile != "" || t.KeyFile != ""):
		r.refuse("tls.acme_hosts", "either this, or tls.self_signed, or tls.cert_file and tls.key_file")
	case t.SelfSigned && (t.CertFile != "" || t.KeyFile != ""):
		r.refuse("tls.self_signed", "either this, or tls.cert_file and tls.key_file")
	case t.CertFile == "" && t.KeyFile != "":
		r.refuse("tls.key_file", "tls.cert_file beside it")
	case t.CertFile != "" && t.KeyFile == "":
		r.refuse("tls.cert_file", "tls.key_file beside it")
	case t.CertFile != "":
		if _, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile); err != nil {
			r.refuse("tls.cert_file", "a certificate that fits tls.key_file: "+err.Error())
		}
	}
}

// checkModel lets package live check what it would send: it refuses a wrong setup before it dials,
// and with a context that is over it does not dial.
func (r *reader) checkModel() {
	if !r.checkService() {
		return
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	wire := r.Wire()
	switch {
	case r.Embedded():
		wire.BaseURL = "ws://127.0.0.1:1"
	case wire.Vertex != nil:
		wire.Vertex.Token = func(ctx context.Context) (string, error) { return "", ctx.Err() }
	}
	_, err := wire.Dial(over, r.setup())
	var wrong *live.SetupError
	if !errors.As(err, &wrong) {
		return
	}
	key, ok := map[string]string{
		"Setup.Model": "model.name", "Wire.BaseURL": "model.base_url", "Setup.Voice": "voice",
		"Setup.Language": "language", "Setup.SystemInstruction": "instructions", "Wire.APIKey": "model.key_file",
		"Vertex.Project": "vertex.project", "Vertex.Location": "vertex.location",
	}[wrong.Field]
	switch {
	case !ok:
	case key == "model.key_file" && r.given[key].from.rank == 0:
		r.wrong = append(r.wrong, errors.New(keyVariable+" is "+wrong.Value+"; want "+wrong.Want))
	default:
		r.refuse(key, wrong.Want)
	}
}

// checkService checks that there is what the model's service needs: a key, or a project with its
// location.
func (r *reader) checkService() bool {
	m := &r.Model
	key, want := "", ""
	switch {
	case m.Project == "" && m.Location != "":
		key, want = "vertex.location", "vertex.project beside it"
	case m.Project != "" && m.Location == "":
		key, want = "vertex.project", "vertex.location beside it, such as europe-west4 or global"
	case m.Project != "" && m.KeyFile != "":
		key, want = "model.key_file", "either this, or vertex.project, which takes the application default credentials"
	case m.Project != "" && m.Name == "":
		key, want = "model.name", "a Live model of Vertex AI beside vertex.project; they are not those of the Gemini API"
	case !r.paid() && m.BaseURL == "" && m.Name != "" && m.Name != Parrot:
		key, want = "model.name", "an API key for it, in GEMINI_API_KEY or model.key_file, or vertex.project; without one "+
			"there is only "+Parrot+", the embedded model"
	case m.SDK && !r.Embedded() && !r.paid():
		key, want = "model.dialer", "wire, or an API key: without one Google's client library looks for one elsewhere"
	}
	if key != "" {
		r.refuse(key, want)
	}
	return key == ""
}

// checkExposure refuses an address where strangers could talk at the owner's expense.
func (r *reader) checkExposure() {
	if r.Exposed(r.Listen) {
		r.refuse("listen", "a loopback address such as "+ListenDefault+", because there is a real API key or "+
			"project and no authentication: anybody who reaches this address could talk at your expense. access.secret_file or "+
			"access.jwks admits only callers with a token; --insecure allows everybody")
	}
	if r.AdminListen != "" && r.AdminTokenFile == "" && !Loopback(r.AdminListen) {
		r.refuse("admin.listen", "a loopback address such as 127.0.0.1:9090, or admin.token_file beside it: whoever reaches "+
			"this address controls all calls")
	}
}

// Exposed reports whether strangers who reach an address could talk at the owner's expense.
func (s *Settings) Exposed(address string) bool {
	return s.paid() && !s.Embedded() && !s.Insecure && !s.TokensRequired() && !Loopback(address)
}

// Loopback reports whether only this machine reaches an address to listen on.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
