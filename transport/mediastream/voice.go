package mediastream

import (
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/admission"
)

const (
	formBytesMax = 64 << 10
	formTimeout  = 10 * time.Second // for the whole form to arrive
)

// voice answers Twilio's webhook for an incoming call with TwiML that leads the call to the stream.
// The query of the webhook's address becomes custom parameters; From and To become the parameters
// from and to. It rejects a call as busy when no line is free.
func (e *Endpoint) voice(w http.ResponseWriter, r *http.Request) {
	form, err := e.form(w, r)
	if err != nil {
		admission.Refuse(w, err)
		return
	}
	line, err := e.cfg.Lines.Take(transport.Handshake{Proven: true})
	if err != nil {
		transport.RefusalLog(e.cfg.Log).Info("call rejected", zap.Error(err))
		answer(w, twimlBusy())
		return
	}
	line.Release() // the stream takes its own line
	params, err := e.parameters(r, form)
	if err != nil {
		transport.RefusalLog(e.cfg.Log).Info("call rejected", zap.Error(err))
		answer(w, twimlHangup())
		return
	}
	base := strings.TrimSuffix(e.address(r, "http"), "/voice")
	answer(w, twimlConnect("ws"+strings.TrimPrefix(base, "http"), base+"/after", params))
}

// after answers Twilio when a stream has ended: with a Dial for a transferred call, else with
// AfterURL or a hang-up.
func (e *Endpoint) after(w http.ResponseWriter, r *http.Request) {
	form, err := e.form(w, r)
	if err != nil {
		admission.Refuse(w, err)
		return
	}
	target, transferred := e.transfers.take(form.Get("CallSid"))
	switch {
	case transferred:
		answer(w, twimlDial(target))
	case e.cfg.AfterURL != "":
		answer(w, twimlRedirect(e.cfg.AfterURL))
	default:
		answer(w, twimlHangup())
	}
}

func answer(w http.ResponseWriter, twiml []byte) {
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(twiml)
}

// form reads and verifies a webhook, or returns why it is refused.
func (e *Endpoint) form(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if err := (admission.Names{Hosts: e.cfg.Hosts, Origins: []string{"*"}}).Request(r); err != nil {
		return nil, err
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, admission.Refusal(http.StatusMethodNotAllowed, "Twilio posts here")
	}
	if typ, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		typ != "application/x-www-form-urlencoded" {
		return nil, admission.Refusal(http.StatusUnsupportedMediaType,
			"the content must be application/x-www-form-urlencoded")
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTimeout)) // not every server supports it
	r.Body = http.MaxBytesReader(w, r.Body, formBytesMax)
	if err := r.ParseForm(); err != nil {
		status := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			status = http.StatusRequestEntityTooLarge
		}
		return nil, admission.Refusal(status, "the form cannot be read")
	}
	if !e.webhookProven(r) {
		transport.RefusalLog(e.cfg.Log).Warn("webhook refused", zap.String("remote", r.RemoteAddr))
		return nil, admission.Refusal(http.StatusForbidden, "the signature is missing or wrong")
	}
	return r.PostForm, nil
}

// webhookProven reports whether a webhook comes from Twilio.
func (e *Endpoint) webhookProven(r *http.Request) bool {
	token := e.secrets.Load().authToken
	if token == "" {
		return e.open(r)
	}
	return signed(r, token, variants(e.address(r, "http")+query(r)), r.PostForm)
}

// parameters returns the custom parameters of the stream: those of the address, of the call, and of
// Config.Parameters. Later ones override earlier ones. Credentials come from Config.Parameters
// only; the endpoint sets the pass.
func (e *Endpoint) parameters(r *http.Request, form url.Values) (map[string]string, error) {
	params := map[string]string{}
	for name, values := range r.URL.Query() {
		if name != paramToken && name != paramSecret && name != paramPass && len(params) < transport.ParamsMax/2 {
			params[name] = values[0]
		}
	}
	params[paramFrom], params[paramTo] = form.Get("From"), form.Get("To")
	if e.cfg.Parameters != nil {
		more, err := e.cfg.Parameters(r.Context(), form)
		if err != nil {
			return nil, err
		}
		for name, value := range more {
			params[name] = value
		}
	}
	for name, value := range params {
		if value == "" || len(name)+len(value) > parameterMax {
			delete(params, name)
		}
	}
	if token := e.secrets.Load().authToken; token != "" {
		params[paramPass] = newPass(token, form.Get("CallSid"), time.Now())
	}
	return params, nil
}

// address returns the public address of a request without its query, under http(s) or ws(s).
func (e *Endpoint) address(r *http.Request, scheme string) string {
	base := e.cfg.PublicURL
	if base == "" {
		base = "http://" + r.Host
		if r.TLS != nil {
			base = "https://" + r.Host
		}
	}
	return scheme + strings.TrimPrefix(base, "http") + r.URL.EscapedPath()
}

// query returns the query of a request with its question mark.
func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

// variants returns the forms in which Twilio may have signed an address: as it is, and with or
// without the scheme's port.
func variants(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return []string{address}
	}
	out := []string{address}
	port := "443"
	if u.Scheme == "http" || u.Scheme == "ws" {
		port = "80"
	}
	host, other := u.Host, u.Host+":"+port
	if u.Port() == port {
		other = strings.TrimSuffix(host, ":"+port)
	} else if u.Port() != "" {
		other = strings.TrimSuffix(host, ":"+u.Port())
	}
	return append(out, strings.Replace(address, "//"+host, "//"+other, 1))
}
