package main

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/voicegw/voicegw/live/sim"
)

// TestDoctor examines a gateway without a key: all is well but the clock, which may be unknown here.
func TestDoctor(t *testing.T) {
	t.Parallel()
	url := turnServer(t, "shared")
	secret, wrong := writeFile(t, "secret", []byte("shared")), writeFile(t, "wrong", []byte("guessed"))
	doctor := func(file string) map[string]checkResult {
		t.Helper()
		r := startWith(t, noProof, oneKind, nil, "doctor", "-o", "json", "--listen", "127.0.0.1:0", "--endpoints", "webrtc",
			"--webrtc-turn-servers", url, "--webrtc-turn-secret-file", file, "--archive", t.TempDir()).result()
		return results(t, r)
	}
	got := doctor(secret)
	for _, name := range []string{"settings", "key", "network", "ports", "turn", "proofs", "archive", "descriptors"} {
		if got[name].Status != statusOK {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
	for _, name := range []string{"clock", "disk"} {
		if got[name].Status == "" || got[name].Status != statusOK && got[name].Do == "" {
			t.Errorf("%s: %+v", name, got[name])
		}
	}
	if bad := doctor(wrong)["turn"]; bad.Status != statusFail || bad.Do == "" {
		t.Errorf("with a wrong secret: %+v", bad)
	}
	command(t, nil, "doctor", "--calls-max", "0").want(t, exitUsage, "fail     settings")
}

// TestDoctorAndTheKey gives the key to the model's service alone. A service that is not there makes the key
// unknown, not right.
func TestDoctorAndTheKey(t *testing.T) {
	t.Parallel()
	service, err := sim.New(sim.Config{APIKey: "the-right-key"})
	if err == nil {
		err = service.Start("127.0.0.1:0")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	var asked, told atomic.Int64
	spy := httptest.NewServer(plain(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, "ok\n")
		for name, values := range r.Header {
			if strings.Contains(name+strings.Join(values, " ")+r.URL.String(), "the-right-key") {
				told.Add(1)
			}
		}
	})))
	defer spy.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	for _, c := range []struct {
		name, base, key string
		code            int
		keyStatus       checkStatus
		network         checkStatus
	}{
		{"right", service.URL(), "the-right-key", -1, statusOK, statusOK},
		{"wrong", service.URL(), "another-key", 1, statusFail, statusOK},
		{"gone", "ws://" + gone.Addr().String(), "the-right-key", 1, statusUnknown, statusFail},
	} {
		r := startWith(t, noProof, append([]string{"GEMINI_API_KEY=" + c.key}, oneKind...), nil, "doctor", "--json",
			"--listen", strings.TrimPrefix(spy.URL, "http://"), "--model-base-url", c.base).result()
		got := results(t, r)
		if got["key"].Status != c.keyStatus || got["network"].Status != c.network || c.code >= 0 && r.code != c.code {
			t.Errorf("%s: exit code %d, %+v, %+v", c.name, r.code, got["key"], got["network"])
		}
		if ports := got["ports"]; ports.Status != statusOK || !strings.Contains(ports.Detail, "a gateway answers") {
			t.Errorf("%s: %+v", c.name, ports)
		}
		if strings.Contains(r.stdout+r.stderr, c.key) {
			t.Errorf("%s: the key is shown", c.name)
		}
	}
	if asked.Load() == 0 || told.Load() > 0 {
		t.Errorf("another server was asked %d times, and told the key %d times", asked.Load(), told.Load())
	}
}

// results are the checks of a command that printed JSON, the worst of each name.
func results(t *testing.T, r result) map[string]checkResult {
	t.Helper()
	list := map[string]checkResult{}
	for _, one := range readChecks(t, r) {
		if old, twice := list[one.Check]; !twice || old.Status == statusOK {
			list[one.Check] = one
		}
	}
	return list
}

// TestDoctorPorts tells a port that something else uses from one of a gateway.
func TestDoctorPorts(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() { // ends with the listener
		for {
			c, err := other.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "220 mail\r\n")
			_ = c.Close()
		}
	}()
	s, err := configured(t, "", nil, "--listen", other.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	f := (&doctor{set: s}).ports(t.Context())
	if len(f) != 1 || f[0].Status != statusFail || !strings.Contains(f[0].Detail, "the port is in use") {
		t.Errorf("%+v", f)
	}
}

// TestDoctorKnowsAGateway: only what answers as a gateway does is one. Other servers with a good /healthz use the port.
func TestDoctorKnowsAGateway(t *testing.T) {
	t.Parallel()
	says := func(text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) })
	}
	gateway := httptest.NewServer(plain(says("ok\n")))
	defer gateway.Close()
	for name, test := range map[string]struct {
		handler http.Handler
		want    checkStatus
	}{
		"a gateway":         {plain(says("ok\n")), statusOK},
		"another server":    {says("ok\n"), statusFail},
		"its page":          {plain(says("<html>")), statusFail},
		"longer":            {plain(says("ok\nok\n")), statusFail},
		"a gateway at last": {http.RedirectHandler(gateway.URL, http.StatusFound), statusFail},
		"one that is ill": {plain(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
		})), statusFail},
	} {
		server := httptest.NewServer(test.handler)
		set, err := configured(t, "", nil, "--listen", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		f := (&doctor{set: set}).ports(t.Context())
		if len(f) != 1 || f[0].Status != test.want {
			t.Errorf("%s: %+v, want %s", name, f, test.want)
		}
		server.Close()
	}
}

// TestDoctorTelemetry: a backend that takes OTLP is right; one that does not has advice, and is not right.
func TestDoctorTelemetry(t *testing.T) {
	t.Parallel()
	backend := newOTLP(t)
	refuses := httptest.NewServer(http.NotFoundHandler())
	defer refuses.Close()
	headers := writeFile(t, "headers", []byte("X-Key: 17\n"))
	for name, test := range map[string]struct {
		args []string
		want checkStatus
		code int
	}{
		"off": {nil, "", 0},
		"good": {[]string{"--otel-export=both", "--otel-endpoint=" + backend.URL, "--otel-headers-file=" + headers},
			statusOK, 0},
		"down":    {[]string{"--otel-export=traces", "--otel-endpoint=http://127.0.0.1:1"}, statusFail, exitFailed},
		"no OTLP": {[]string{"--otel-export=metrics", "--otel-endpoint=" + refuses.URL}, statusFail, exitFailed},
		"headers": {[]string{"--otel-export=traces", "--otel-headers-file=" + writeFile(t, "bad", []byte("x\n"))}, statusFail,
			exitUsage},
	} {
		set, err := configured(t, "", nil, test.args...)
		if err != nil {
			t.Fatal(err)
		}
		f := (&doctor{set: set}).telemetry(t.Context())
		if test.want == "" {
			if len(f) != 0 {
				t.Errorf("%s: %+v", name, f)
			}
			continue
		}
		if _, code := f.result(); len(f) != 1 || f[0].Status != test.want || code != test.code {
			t.Errorf("%s: %+v with the code %d; want %s and %d", name, f, code, test.want, test.code)
		}
		if f[0].Status == statusFail && f[0].Do == "" && test.code != exitUsage {
			t.Errorf("%s: it does not say what to do", name)
		}
	}
	backend.mu.Lock()
	defer backend.mu.Unlock()
	if len(backend.spans) != 0 || strings.Contains(backend.metrics, "voicegw_") {
		t.Errorf("doctor exports %d spans and %q", len(backend.spans), backend.metrics)
	}
}

// TestDoctorDoesNotWait gives up a TURN server that never answers, and checks the other one.
func TestDoctorDoesNotWait(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	hole := "turn:" + silent.LocalAddr().String()
	s, err := configured(t, "endpoints: [webrtc]", nil, "--webrtc-turn-servers", hole+","+turnServer(t, "shared"),
		"--webrtc-turn-secret-file", writeFile(t, "secret", []byte("shared")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	d := &doctor{set: s}
	found := make(chan checkResults)
	go func() { found <- d.turn(ctx) }()
	buffer := make([]byte, 1500)
	if _, _, err := silent.ReadFrom(buffer); err != nil { // it was asked
		t.Fatal(err)
	}
	cancel()
	select {
	case f := <-found:
		if len(f) != 2 || f[0].Status != statusFail || !strings.HasPrefix(f[0].Detail, hole) {
			t.Errorf("%+v", f)
		}
	case <-time.After(patience):
		t.Error("it waits for a server that never answers")
	}
}

// TestDoctorJudges tries the limits of what is measured.
func TestDoctorJudges(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for days, want := range map[int]checkStatus{-1: statusFail, 13: statusWarn, 15: statusOK} {
		var f checkResults
		leaf := &x509.Certificate{NotBefore: now.AddDate(0, 0, -99), NotAfter: now.AddDate(0, 0, days)}
		if f.certificateUntil(leaf, now); f[0].Status != want {
			t.Errorf("%d days: %+v", days, f)
		}
	}
	var early checkResults
	early.certificateUntil(&x509.Certificate{NotBefore: now.Add(time.Hour), NotAfter: now.Add(2 * time.Hour)}, now)
	if early[0].Status != statusFail {
		t.Errorf("%+v", early)
	}
	for by, want := range map[time.Duration]checkStatus{0: statusOK, -5 * time.Second: statusOK,
		6 * time.Second: statusWarn, -31 * time.Second: statusFail} {
		var f checkResults
		if f.clockDiffers(by, "a.example"); f[0].Status != want || f[0].Do == "" != (want == statusOK) {
			t.Errorf("%v: %+v", by, f)
		}
	}
	for key, want := range map[string]string{
		"": "",
		"model: {base_url: 'ws://127.0.0.1:9/x'}":                        "http://127.0.0.1:9/",
		"vertex: {project: p, location: europe-west4}\nmodel: {name: m}": "https://europe-west4-aiplatform.googleapis.com/",
		"vertex: {project: p, location: global}\nmodel: {name: m}":       "https://aiplatform.googleapis.com/",
	} {
		s, err := configured(t, key+"\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if u := (&doctor{set: s}).service(); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%q: the service is %s, want %s", key, got, want)
		}
	}
}
