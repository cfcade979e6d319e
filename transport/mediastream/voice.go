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
	"github.com/voicegw/voicegw/transport/httpdoor"
)

const (
	formBytesMax = 64 << 10
	formTimeout  = 10 * time.Second // for the whole form to arrive
)

// Voice answers Twilio's webhook for a call that comes in with TwiML that leads it to the stream. What stands in the
// query of its address becomes custom parameters; From and To become the parameters from and to. A call for which there
// is no line is rejected as busy.
func (d *Door) Voice() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, ok := d.form(w, r)
		if !ok {
			return
		}
		line, err := d.cfg.Lines.Take(transport.Handshake{Proven: true})
		if err != nil {
			d.cfg.Log.Info("call rejected", zap.Error(err))
			answer(w, twimlBusy())
			return
		}
		line.Release() // the stream takes its own
		params, err := d.parameters(r, form)
		if err != nil {
			d.cfg.Log.Info("call rejected", zap.Error(err))
			answer(w, twimlHangup())
			return
		}
		base := strings.TrimSuffix(d.address(r, "http"), "/voice")
		answer(w, twimlConnect("ws"+strings.TrimPrefix(base, "http"), base+"/after", params))
	})
}

// After answers Twilio when a stream is over: with a Dial for a call that is transferred, else with AfterURL or the
// end.
func (d *Door) After() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		form, ok := d.form(w, r)
		if !ok {
			return
		}
		target, transferred := d.transfers.take(form.Get("CallSid"))
		switch {
		case transferred:
			answer(w, twimlDial(target))
		case d.cfg.AfterURL != "":
			answer(w, twimlRedirect(d.cfg.AfterURL))
		default:
			answer(w, twimlHangup())
		}
	})
}

func answer(w http.ResponseWriter, twiml []byte) {
	w.Header().Set("Content-Type", "text/xml; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(twiml)
}

// form reads and proves a webhook. Unless ok the request was answered.
func (d *Door) form(w http.ResponseWriter, r *http.Request) (form url.Values, ok bool) {
	names := httpdoor.Names{Hosts: d.cfg.Hosts, Origins: []string{"*"}}
	if status, why := names.Refusal(r); status != 0 {
		http.Error(w, why, status)
		return nil, false
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "Twilio posts here", http.StatusMethodNotAllowed)
		return nil, false
	}
	if typ, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		typ != "application/x-www-form-urlencoded" {
		http.Error(w, "the content must be application/x-www-form-urlencoded", http.StatusUnsupportedMediaType)
		return nil, false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTimeout)) // not every server can
	r.Body = http.MaxBytesReader(w, r.Body, formBytesMax)
	if err := r.ParseForm(); err != nil {
		status := http.StatusBadRequest
		if tooBig := (*http.MaxBytesError)(nil); errors.As(err, &tooBig) {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the form cannot be read", status)
		return nil, false
	}
	if !d.webhookProven(r) {
		d.cfg.Log.Warn("webhook refused", zap.String("remote", r.RemoteAddr))
		http.Error(w, "the signature is missing or wrong", http.StatusForbidden)
		return nil, false
	}
	return r.PostForm, true
}

// webhookProven reports whether a webhook comes from Twilio.
func (d *Door) webhookProven(r *http.Request) bool {
	if d.cfg.AuthToken == "" {
		return d.open(r)
	}
	return signed(r, d.cfg.AuthToken, variants(d.address(r, "http")+query(r)), r.PostForm)
}

// parameters are the custom parameters of the stream: of the address, of the call, of Config.Parameters, the later ones
// before the earlier ones. Credentials come from the last alone; the pass is the door's.
func (d *Door) parameters(r *http.Request, form url.Values) (map[string]string, error) {
	params := map[string]string{}
	for name, values := range r.URL.Query() {
		if name != paramToken && name != paramSecret && name != paramPass && len(params) < transport.ParamsMax/2 {
			params[name] = values[0]
		}
	}
	params[paramFrom], params[paramTo] = form.Get("From"), form.Get("To")
	if d.cfg.Parameters != nil {
		more, err := d.cfg.Parameters(r.Context(), form)
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
	if d.cfg.AuthToken != "" {
		params[paramPass] = newPass(d.cfg.AuthToken, form.Get("CallSid"), time.Now())
	}
	return params, nil
}

// address is the public address of a request without its query, under http(s) or ws(s).
func (d *Door) address(r *http.Request, scheme string) string {
	base := d.cfg.PublicURL
	if base == "" {
		base = "http://" + r.Host
		if r.TLS != nil {
			base = "https://" + r.Host
		}
	}
	return scheme + strings.TrimPrefix(base, "http") + r.URL.EscapedPath()
}

// query is the query of a request with its question mark.
func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

// variants are the forms in which an address may have been signed: as it is, and with or without the scheme's port.
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
