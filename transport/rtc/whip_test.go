package rtc_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pion/webrtc/v4"

	"github.com/voicegw/voicegw/transport"
	"github.com/voicegw/voicegw/transport/rtc"
)

const (
	offerType    = "application/sdp"
	fragmentType = "application/trickle-ice-sdpfrag"
)

// TestCreate is the answer to an offer (RFC 9725 section 4.2).
func TestCreate(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{ICEServers: []rtc.ICEServer{{URLs: []string{"stun:stun.example.com"}},
		{URLs: []string{"turn:turn.example.com"}, Username: "u", Credential: `p"w`}}})
	resp, answer := w.request(http.MethodPost, w.callURL(), w.prepare(manner{}).offer(nil),
		"Content-Type", offerType+"; charset=utf-8", "Origin", w.server.URL)
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Content-Type") != offerType {
		t.Fatalf("%d %s: %s", resp.StatusCode, resp.Header.Get("Content-Type"), answer)
	}
	if at := resp.Header.Get("Location"); !strings.HasPrefix(at, "/v1/whip/") || len(at) != len("/v1/whip/")+32 {
		t.Errorf("Location %q", at)
	}
	if resp.Header.Get("ETag") != `"ice-1"` || resp.Header.Get("Access-Control-Allow-Origin") != w.server.URL ||
		!strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "Location") {
		t.Errorf("headers %v", resp.Header)
	}
	links := fmt.Sprint(resp.Header.Values("Link"))
	want := `[<stun:stun.example.com>; rel="ice-server" <turn:turn.example.com>; rel="ice-server"; username="u"; ` +
		`credential="p\"w"; credential-type="password"]`
	if links != want {
		t.Errorf("Link %s", links)
	}
	port := w.endpoint.Addr().String()[strings.LastIndex(w.endpoint.Addr().String(), ":")+1:]
	for _, line := range []string{"a=ice-lite", "a=setup:active", "a=sendrecv", "a=end-of-candidates",
		" 127.0.0.1 " + port + " typ host"} {
		if !strings.Contains(answer, line) {
			t.Errorf("the answer has no %q:\n%s", line, answer)
		}
	}
	if n := strings.Count(answer, "a=candidate:"); n != 1 {
		t.Errorf("the answer has %d candidates for one address:\n%s", n, answer)
	}
}

// offers is a good offer, and what may be wrong with it.
func offers(good string) map[string]struct {
	offer  string
	status int
} {
	change := func(old, new string) string { return strings.ReplaceAll(good, old, new) }
	type bad = struct {
		offer  string
		status int
	}
	return map[string]bad{
		"no SDP":       {"hello", 400},
		"empty":        {"", 400},
		"long":         {good + strings.Repeat("a=x:y\r\n", 20000), 413},
		"no sound":     {change("m=audio", "m=text"), 406},
		"video":        {good + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:9\r\na=rtpmap:96 VP8/90000\r\n", 406},
		"two of sound": {good + good[strings.Index(good, "m=audio"):], 406},
		"up only":      {change("a=sendrecv", "a=sendonly"), 406},
		"down only":    {change("a=sendrecv", "a=recvonly"), 406},
		"neither way":  {change("a=sendrecv", "a=inactive"), 406},
		"up in all":    {strings.Replace(change("a=sendrecv", "a=x"), "t=0 0\r\n", "t=0 0\r\na=sendonly\r\n", 1), 406},
		"off":          {change("m=audio 9", "m=audio 0"), 400},
		"no codec":     {change("G722/8000", "X/8000"), 406},
		"active":       {change("a=setup:actpass", "a=setup:active"), 422},
		"no role":      {change("a=setup:actpass", "a=x"), 400},
		"no password":  {change("a=ice-pwd:", "a=x:"), 400},
		"no name":      {change("a=ice-ufrag:", "a=x:"), 400},
		"no print":     {change("a=fingerprint:", "a=x:"), 400},
		"no mux":       {change("a=rtcp-mux", "a=x"), 406},
		"no bundle":    {change("a=group:BUNDLE", "a=x:"), 406},
		"no mid":       {change("a=mid:0", "a=x:0"), 400},
		"bad print":    {change("a=fingerprint:sha-256 ", "a=fingerprint:sha-256 zz"), 400},
	}
}

// TestBadOffers are refused in words, and cost no line.
func TestBadOffers(t *testing.T) {
	t.Parallel()
	l := newLines()
	w := newStage(t, l, rtc.Config{})
	c := w.prepare(manner{})
	good := c.offer(nil)
	good = strings.NewReplacer(" 9 0 111 126", " 9", "a=rtpmap:0 PCMU/8000\r\n", "", "a=rtpmap:111 opus/48000/2\r\n", "",
		"a=rtpmap:126 telephone-event/8000\r\n", "").Replace(onlyG722(good))
	for name, bad := range offers(good) {
		resp, body := w.request(http.MethodPost, w.callURL(), bad.offer, "Content-Type", offerType)
		if resp.StatusCode != bad.status {
			t.Errorf("%s: %d %.100s, want %d", name, resp.StatusCode, body, bad.status)
			continue
		}
		select {
		case <-l.released:
		case <-time.After(patience):
			t.Errorf("%s: the line was kept", name)
		}
	}
	resp, body := w.request(http.MethodPost, w.callURL(), good, "Content-Type", offerType)
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("the good one: %d %s", resp.StatusCode, body)
	}
}

// onlyG722 takes the other payload types out of an offer, in whatever order they came.
func onlyG722(offer string) string {
	var b strings.Builder
	for line := range strings.Lines(offer) {
		switch {
		case strings.HasPrefix(line, "m=audio"):
			line = "m=audio 9 UDP/TLS/RTP/SAVPF 9\r\n"
		case strings.HasPrefix(line, "a=rtpmap:") && !strings.HasPrefix(line, "a=rtpmap:9 "):
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestRefused answers what the gateway says, and asks it before anything is spent.
func TestRefused(t *testing.T) {
	t.Parallel()
	refuse := func(r transport.Reason, after time.Duration) *lines {
		l := newLines()
		l.refuse = &transport.Refused{Reason: r, RetryAfter: after}
		return l
	}
	check := func(err error) *lines {
		l := newLines()
		l.check = func(*transport.Hello) error { return err }
		return l
	}
	for name, test := range map[string]struct {
		lines  *lines
		status int
		header string
	}{
		"busy":         {refuse(transport.ReasonBusy, 1500*time.Millisecond), 503, "Retry-After"},
		"going away":   {refuse(transport.ReasonGoingAway, 0), 503, ""},
		"limit":        {refuse(transport.ReasonLimit, time.Second), 429, "Retry-After"},
		"unauthorized": {check(&transport.Refused{Reason: transport.ReasonUnauthorized}), 401, "WWW-Authenticate"},
		"field":        {check(&transport.FieldError{Event: "hello", Field: "language"}), 400, ""},
		"fault":        {check(errors.New("of ours")), 500, ""},
	} {
		w := newStage(t, test.lines, rtc.Config{})
		resp, body := w.request(http.MethodPost, w.callURL(), w.prepare(manner{}).offer(nil), "Content-Type", offerType)
		if resp.StatusCode != test.status || test.header != "" && resp.Header.Get(test.header) == "" || body == "" {
			t.Errorf("%s: %d %v %s", name, resp.StatusCode, resp.Header, body)
		}
		if strings.Contains(body, "of ours") {
			t.Errorf("%s: our fault is told: %s", name, body)
		}
	}
}

// TestRequests are those that are none for a call.
func TestRequests(t *testing.T) {
	t.Parallel()
	w := newStage(t, newLines(), rtc.Config{Origins: []string{"https://shop.example"}, Hosts: []string{"gw.example"}})
	none := w.callURL() + "/0123456789abcdef0123456789abcdef"
	for _, test := range []struct {
		method, url string
		header      []string
		status      int
	}{
		{"GET", w.callURL(), nil, 405}, {"PUT", w.callURL(), nil, 405}, {"HEAD", w.callURL(), nil, 405},
		{"PATCH", w.callURL(), nil, 405}, {"DELETE", w.callURL(), nil, 405},
		{"GET", none, nil, 405}, {"POST", none, nil, 405}, {"PUT", none, nil, 405},
		{"DELETE", none, nil, 404}, {"PATCH", none, nil, 404},
		{"POST", w.callURL(), nil, 415}, {"POST", w.callURL(), []string{"Content-Type", "text/plain"}, 415},
		{"POST", w.callURL(), []string{"Content-Type", offerType, "Authorization", "Basic eDp5"}, 401},
		{"POST", w.callURL(), []string{"Content-Type", offerType, "Authorization", "Bearer "}, 401},
		{"POST", w.callURL(), []string{"Content-Type", offerType, "Origin", "https://evil.example"}, 403},
		{"POST", w.callURL(), []string{"Content-Type", offerType, "Origin", "null"}, 403},
		{"POST", w.callURL(), []string{"Host", "evil.example"}, 421},
		{"POST", w.callURL(), []string{"Host", "gw.example"}, 415},
		{"OPTIONS", w.callURL(), []string{"Origin", "https://shop.example"}, 200},
		{"OPTIONS", w.callURL(), nil, 200}, {"OPTIONS", none, nil, 200},
		{"OPTIONS", w.callURL(), []string{"Origin", "https://evil.example"}, 403},
	} {
		resp, body := w.requestTo(test.method, test.url, test.header)
		if resp.StatusCode != test.status {
			t.Errorf("%s %s %v: %d %s, want %d", test.method, test.url, test.header, resp.StatusCode, body, test.status)
		}
		if test.status == 405 && resp.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", test.method, test.url)
		}
		if origin := resp.Header.Get("Access-Control-Allow-Origin"); strings.Contains(origin, "evil") {
			t.Errorf("%v: shared with %s", test.header, origin)
		}
		if test.method == "OPTIONS" && test.status == 200 && test.url == w.callURL() &&
			resp.Header.Get("Accept-Post") != offerType {
			t.Errorf("%v: no Accept-Post", test.header)
		}
	}
}

// requestTo is request for headers that the client would change.
func (w *world) requestTo(method, url string, header []string) (*http.Response, string) {
	r := httptest.NewRequest(method, url, strings.NewReader("x"))
	r.RequestURI = r.URL.Path
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	w.endpoint.ServeHTTP(rec, r)
	return rec.Result(), rec.Body.String()
}

// TestPatch is a session's trickle and restart (RFC 9725 section 4.3), and what they are not.
func TestPatch(t *testing.T) {
	t.Parallel()
	w := newStage(t, newLines(), rtc.Config{})
	c := w.call(manner{token: "secret"})
	ufrag, pwd := credentials(c.pc.LocalDescription().SDP)
	good := "a=ice-ufrag:" + ufrag + "\r\na=ice-pwd:" + pwd + "\r\nm=audio 9 UDP/TLS/RTP/SAVPF 9\r\na=mid:0\r\n" +
		"a=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host\r\na=end-of-candidates\r\n"
	patch := func(body string, header ...string) *http.Response {
		resp, _ := w.request(http.MethodPatch, c.location, body, header...)
		return resp
	}
	auth := []string{"Authorization", "Bearer secret", "Content-Type", fragmentType}
	for name, test := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"trickle":        {good, append(auth, "If-Match", `"ice-1"`), 204},
		"trickle to all": {good, append(auth, "If-Match", "*"), 204},
		"no match":       {good, auth, 428},
		"another match":  {good, append(auth, "If-Match", `"ice-2"`), 412},
		"another type": {good,
			[]string{"Authorization", "Bearer secret", "Content-Type", offerType, "If-Match", "*"}, 415},
		"no token": {good, []string{"Content-Type", fragmentType, "If-Match", "*"}, 401},
		"another token": {good,
			[]string{"Authorization", "Bearer guess", "Content-Type", fragmentType, "If-Match", "*"}, 401},
		"no fragment":    {"hello", append(auth, "If-Match", "*"), 400},
		"empty":          {"", append(auth, "If-Match", "*"), 400},
		"short password": {"a=ice-ufrag:abcd\r\na=ice-pwd:short\r\n", append(auth, "If-Match", "*"), 400},
		"half a restart": {strings.Replace(good, ufrag, "other123", 1), append(auth, "If-Match", "*"), 400},
		"long":           {good + strings.Repeat("a=x\r\n", 5000), append(auth, "If-Match", "*"), 413},
		"many": {good + strings.Repeat("a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\n", 50),
			append(auth, "If-Match", "*"), 400},
	} {
		if resp := patch(test.body, test.header...); resp.StatusCode != test.status {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, test.status)
		}
	}
	if resp, _ := w.request(http.MethodDelete, c.location, ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("DELETE without a token: %d", resp.StatusCode)
	}
	resp, _ := w.request(http.MethodDelete, c.location, "", "Authorization", "Bearer secret")
	if resp.StatusCode != http.StatusOK {
		t.Errorf("DELETE: %d", resp.StatusCode)
	}
}

// credentials are those of ICE in SDP.
func credentials(sdp string) (ufrag, pwd string) {
	for line := range strings.Lines(sdp) {
		line = strings.TrimRight(line, "\r\n")
		if v, ok := strings.CutPrefix(line, "a=ice-ufrag:"); ok {
			ufrag = v
		}
		if v, ok := strings.CutPrefix(line, "a=ice-pwd:"); ok {
			pwd = v
		}
	}
	return ufrag, pwd
}

// restart restarts ICE as a client does, and returns the status.
func (c *caller) restart(through func(string) string) int {
	c.t.Helper()
	old := c.pc.RemoteDescription().SDP
	offer := c.offer(&webrtc.OfferOptions{ICERestart: true})
	ufrag, pwd := credentials(offer)
	resp, fragment := c.w.request(http.MethodPatch, c.location, "a=ice-ufrag:"+ufrag+"\r\na=ice-pwd:"+pwd+"\r\n",
		"Content-Type", fragmentType, "If-Match", `"*"`)
	if resp.StatusCode != http.StatusOK {
		return resp.StatusCode
	}
	if etag := resp.Header.Get("ETag"); etag == "" || etag == c.etag {
		c.t.Errorf("the restart has the name %s, as before", etag)
	}
	newUfrag, newPwd := credentials(fragment)
	oldUfrag, oldPwd := credentials(old)
	if newUfrag == oldUfrag || newUfrag == "" || !strings.Contains(fragment, "a=candidate:") {
		c.t.Errorf("the restart is answered by\n%s", fragment)
	}
	answer := strings.NewReplacer(oldUfrag, newUfrag, oldPwd, newPwd).Replace(old)
	if through != nil {
		answer = through(answer)
	}
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		c.t.Fatal(err)
	}
	return resp.StatusCode
}

// TestSlowOfferMakesRoom: an offer that comes a byte at a time is answered as soon as its handshake
// is given up.
func TestSlowOfferMakesRoom(t *testing.T) {
	t.Parallel()
	l := newLines()
	l.begun = make(chan transport.Handshake, 1)
	w := newStage(t, l, rtc.Config{})
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "POST /v1/whip HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sdp\r\n"+
		"Content-Length: 1000\r\n\r\nv")
	h := <-l.begun
	if h.Remote != "127.0.0.1" || h.Proven {
		t.Errorf("the handshake is %+v", h)
	}
	began := time.Now()
	h.GiveUp(&transport.Refused{Reason: transport.ReasonBusy, Message: "Too many."})
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
		t.Errorf("it is answered %v, %v", resp, err)
	}
	if d := time.Since(began); d > rtc.ConnectTimeoutDefault/2 {
		t.Errorf("after %v", d)
	}
	<-l.released
}
