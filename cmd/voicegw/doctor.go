package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/live"
	"github.com/voicegw/voicegw/settings"
	"github.com/voicegw/voicegw/transport/rtc"
)

// checkLimit bounds each check of doctor, but for the proof of the nets (proofTimeout).
const checkLimit = 10 * time.Second

func doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "check the key, the network, ports, TURN, the clock, proofs and the disk, and say what to do",
		Long: "doctor takes the settings of serve and checks what serve needs: the model takes the key; its service, the\n" +
			"TURN servers and the telemetry backend can be reached; ports are free, or a gateway answers there; the\n" +
			"certificate and the clock are right; the nets of calls are proved; and there is room on the disk. Each check\n" +
			"ends within 10 s, the proof within 2 min. The key goes to the model's service and nowhere else.\n\n" +
			"The exit code is 0 if nothing is wrong, 1 if a check failed, 2 if the settings are wrong, 3 if nothing\n" +
			"failed and something could not be checked.",
		Example: "  voicegw doctor --config voicegw.yaml",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := configure(cmd.Flags(), os.Environ())
			return examine(cmd.Context(), s, err).report(cmd.OutOrStdout(), asJSON)
		},
	}
	outputFlag(cmd, &asJSON, "the checks")
	addSettingFlags(cmd, settings.Rows())
	return cmd
}

// examine runs all checks at the same time, and returns what they found in a fixed order.
func examine(ctx context.Context, set *settings.Settings, wrong error) checkResults {
	all := settingsResults(set, wrong)
	if wrong != nil {
		return all
	}
	d := &doctor{set: set}
	prove := func(context.Context) checkResults { return d.proofs(ctx) } // it has a limit of its own
	checks := []func(context.Context) checkResults{d.key, d.network, d.ports, d.certificate, d.turn, d.clock, prove,
		d.disk, d.descriptors, d.telemetry}
	found := make([]checkResults, len(checks))
	var wait sync.WaitGroup
	for i, check := range checks {
		wait.Go(func() {
			limited, cancel := context.WithTimeout(ctx, checkLimit)
			defer cancel()
			found[i] = check(limited)
		})
	}
	wait.Wait()
	return append(all, slices.Concat(found...)...)
}

// doctor checks what the settings need. Its checks are independent of each other.
type doctor struct{ set *settings.Settings }

// key lets the model accept a setup, and asks it nothing.
func (d *doctor) key(ctx context.Context) (f checkResults) {
	if d.set.Embedded() {
		f.add("key", statusOK, "", "none is needed: the embedded model answers")
		return f
	}
	m, err := openModel(d.set)
	if f.failed("key", err) {
		return f
	}
	defer func() { _ = m.close() }()
	began := time.Now()
	conn, err := m.dialer().Dial(ctx, live.Setup{})
	var refused *live.CloseError
	switch {
	case err == nil:
		_ = conn.Close(1000, "")
		f.add("key", statusOK, "", "%s answers after %d ms", m.info.Name, time.Since(began).Milliseconds())
	case errors.As(err, &refused) && refusedForGood(refused.Class):
		f.add("key", statusFail, "check the key (model.key_file, GEMINI_API_KEY), and that it may use this model "+
			"(model.name)", "%v", err)
	default:
		f.add("key", statusUnknown, "make the service reachable (network), then run doctor again",
			"the model's service did not answer: %v", err)
	}
	return f
}

// refusedForGood reports whether only a person can help.
func refusedForGood(c live.Class) bool {
	return c == live.ClassKey || c == live.ClassModel || c == live.ClassPayload
}

// service returns the address of the model's service, nil for the embedded model.
func (d *doctor) service() *url.URL {
	base := d.set.Model.BaseURL
	switch {
	case d.set.Embedded():
		return nil
	case base == "" && d.set.Model.Project != "":
		host := "aiplatform.googleapis.com"
		if at := d.set.Model.Location; at != "global" {
			host = at + "-" + host
		}
		base = "https://" + host
	case base == "":
		base = "https://generativelanguage.googleapis.com"
	}
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	u.Scheme = map[string]string{"ws": "http", "wss": "https"}[u.Scheme]
	u.Scheme = cmp.Or(u.Scheme, "https")
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
}

// head asks a server for its headers. It sends no key. Any answer will do.
func head(ctx context.Context, u *url.URL) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, u.String(), nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	return resp, resp.Body.Close()
}

// network reaches the model's service.
func (d *doctor) network(ctx context.Context) (f checkResults) {
	u := d.service()
	if u == nil {
		f.add("network", statusOK, "", "none is needed: the embedded model is in this process")
		return f
	}
	began := time.Now()
	if _, err := head(ctx, u); err != nil {
		f.add("network", statusFail, "check DNS, the firewall and HTTPS_PROXY; the gateway needs "+u.Host, "%v", err)
		return f
	}
	f.add("network", statusOK, "", "%s answers after %d ms", u.Host, time.Since(began).Milliseconds())
	return f
}

// ports opens what serve listens on, or finds a gateway there. Whether callers can reach a port does not
// show from here.
func (d *doctor) ports(ctx context.Context) (f checkResults) {
	for _, p := range [][2]string{{"listen", d.set.Listen}, {"admin.listen", d.set.AdminListen}} {
		if p[1] == "" {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p[1])
		if err == nil {
			_ = l.Close()
			f.add("ports", statusOK, "", "%s: %s is free", p[0], p[1])
			continue
		}
		if d.answers(ctx, p[1]) {
			f.add("ports", statusOK, "", "%s: a gateway answers at %s", p[0], p[1])
			continue
		}
		f.failed("ports", fmt.Errorf("%s: %w", p[0], listenError(p[1], err)))
	}
	if !slices.Contains(d.set.Endpoints, "webrtc") {
		return f
	}
	host, _, _ := net.SplitHostPort(d.set.Listen)
	address := cmp.Or(d.set.WebRTC.Listen, net.JoinHostPort(host, "0"))
	c, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", address)
	if err != nil {
		f.add("ports", statusUnknown, "stop the gateway that may be using it, or choose another webrtc.listen",
			"webrtc.listen: %v", err)
		return f
	}
	_ = c.Close()
	f.add("ports", statusOK, "", "webrtc.listen: %s is free (UDP)", address)
	return f
}

// answers reports whether a gateway answers at an address of this machine.
func (d *doctor) answers(ctx context.Context, address string) bool {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	insecure := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, // nothing secret is sent
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for _, scheme := range []string{"http", "https"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+"/healthz", nil)
		if err != nil {
			return false
		}
		resp, err := insecure.Do(r)
		if err != nil {
			continue
		}
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 16))
		_ = resp.Body.Close()
		if resp.StatusCode == http.StatusOK && string(body) == "ok\n" && resp.Header.Get(policyHeader) == plainPolicy {
			return true
		}
	}
	return false
}

// certificateSoon is how long before its end a certificate is worth a warning.
const certificateSoon = 14 * 24 * time.Hour

// certificate checks how long the certificate in files is valid.
func (d *doctor) certificate(context.Context) (f checkResults) {
	t := &d.set.TLS
	if t.CertFile == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if f.failed("certificate", err) {
		return f
	}
	f.certificateUntil(pair.Leaf, time.Now())
	return f
}

func (f *checkResults) certificateUntil(leaf *x509.Certificate, now time.Time) {
	const do = "renew it; serve reads the new files by itself"
	end := leaf.NotAfter.UTC().Format(time.DateTime)
	switch {
	case now.After(leaf.NotAfter):
		f.add("certificate", statusFail, do, "it ended on %s", end)
	case now.Before(leaf.NotBefore):
		f.add("certificate", statusFail, "check the clock", "it begins on %s", leaf.NotBefore.UTC().Format(time.DateTime))
	case now.Add(certificateSoon).After(leaf.NotAfter):
		f.add("certificate", statusWarn, do, "it ends on %s", end)
	default:
		f.add("certificate", statusOK, "", "valid until %s", end)
	}
}

// turn gets an address from each STUN and TURN server, with the credentials that callers are given.
func (d *doctor) turn(ctx context.Context) (f checkResults) {
	if !slices.Contains(d.set.Endpoints, "webrtc") {
		return nil
	}
	servers, err := iceServers(d.set)
	if f.failed("turn", err) {
		return f
	}
	var each []rtc.ICEServer // of one address
	for _, s := range servers {
		for _, u := range s.URLs {
			one := s
			one.URLs = []string{u}
			each = append(each, one)
		}
	}
	found := make([]checkResults, len(each))
	var wait sync.WaitGroup
	for i, s := range each {
		wait.Go(func() { found[i].probe(ctx, s) })
	}
	wait.Wait()
	return slices.Concat(found...)
}

// probe gets an address from a server.
func (f *checkResults) probe(ctx context.Context, s rtc.ICEServer) {
	const do = "check that it runs, that its port is open, and that the credentials are those of the server"
	address, err := rtc.Probe(ctx, s)
	if err != nil {
		f.add("turn", statusFail, do, "%s: %v", s.URLs[0], err)
		return
	}
	f.add("turn", statusOK, "", "%s gives %s", s.URLs[0], address)
}

// Errors of the clock that matter: a token may be that early or late.
const (
	clockWarn = 5 * time.Second
	clockFail = 30 * time.Second
)

// clock compares the clock with that of the model's service, or else asks the system.
func (d *doctor) clock(ctx context.Context) (f checkResults) {
	u := d.service()
	if u == nil {
		f.systemClock()
		return f
	}
	resp, err := head(ctx, u)
	if err != nil {
		f.systemClock()
		return f
	}
	there, err := http.ParseTime(resp.Header.Get("Date"))
	if err != nil {
		f.systemClock()
		return f
	}
	f.clockDiffers(time.Since(there).Round(time.Second), u.Host)
	return f
}

func (f *checkResults) clockDiffers(by time.Duration, host string) {
	const do = "run a time service such as chrony; tokens and certificates are refused when the clock is wrong"
	switch off := by.Abs(); {
	case off > clockFail:
		f.add("clock", statusFail, do, "%v beside that of %s", by, host)
	case off > clockWarn:
		f.add("clock", statusWarn, do, "%v beside that of %s", by, host)
	default:
		f.add("clock", statusOK, "", "within %v of that of %s", clockWarn, host)
	}
}

// proofs proves the nets of calls, as serve does.
func (d *doctor) proofs(ctx context.Context) (f checkResults) {
	m, err := openModel(d.set)
	if f.failed("proofs", err) {
		return f
	}
	defer func() { _ = m.close() }()
	s, err := newServing(d.set, m, zap.NewNop())
	if err != nil {
		f.failed("proofs", &usageError{err})
		return f
	}
	defer s.webhooks.close()
	defer func() { _ = s.gw.Close() }()
	f.checkProofs(ctx, s)
	return f
}

// Room on the disk that serve should have, in bytes.
const (
	roomWarn = 1 << 30
	roomFail = 64 << 20
)

// disk checks the directories that serve writes, and the room there.
func (d *doctor) disk(context.Context) (f checkResults) {
	f.checkDirectories(d.set)
	if dir, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "voicegw")
		if _, err := writable(dir); err != nil {
			f.add("disk", statusWarn, "set HOME or XDG_CACHE_HOME to a directory that can be written",
				"certificates of proofs cannot be kept: %v", err)
		}
		f.room("cache", dir)
	}
	for _, p := range [][2]string{{"archive", d.set.Archive}, {"records.dir", d.set.Records.Dir},
		{"data_dir", d.set.DataDir}, {"workflow.storage", d.set.Workflow.Storage}} {
		if p[1] != "" {
			f.room(p[0], p[1])
		}
	}
	return f
}

// room checks the free room of a directory, or of the nearest one above it that is there.
func (f *checkResults) room(name, dir string) {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
	}
	free, err := freeBytes(dir)
	const do = "make room, or limit what is kept"
	switch {
	case err != nil:
		f.add("disk", statusUnknown, "", "%s: the room in %s is not known: %v", name, dir, err)
	case free < roomFail:
		f.add("disk", statusFail, do, "%s: %d MB are free in %s", name, free>>20, dir)
	case free < roomWarn:
		f.add("disk", statusWarn, do, "%s: %d MB are free in %s", name, free>>20, dir)
	default:
		f.add("disk", statusOK, "", "%s: %d MB are free in %s", name, free>>20, dir)
	}
}

// descriptors checks that the process may open enough files for its calls.
func (d *doctor) descriptors(context.Context) (f checkResults) {
	const spare, each = 256, 3 // the caller, the model, an archive
	need := uint64(d.set.CallsMax()*each + d.set.HandshakesMax() + spare)
	may, err := descriptorsMax()
	switch {
	case err != nil:
		f.add("descriptors", statusUnknown, "", "the limit is not known: %v", err)
	case may < need:
		f.add("descriptors", statusFail, fmt.Sprintf("ulimit -n %d, or LimitNOFILE in the systemd unit", need),
			"the process may open %d files, and %d calls need %d", may, d.set.CallsMax(), need)
	default:
		f.add("descriptors", statusOK, "", "enough for %d calls", d.set.CallsMax())
	}
	return f
}
