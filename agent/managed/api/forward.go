package api

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/agent/managed"
)

// forwardedHeader marks a request that another node has forwarded. It is not forwarded again: the session
// has moved meanwhile, and the client's next attempt finds it.
const forwardedHeader = "Voicegw-Forwarded"

// Times of requests to other nodes.
const (
	dialTimeout   = 2 * time.Second
	answerTimeout = 30 * time.Second
	idleTimeout   = 30 * time.Second
)

// newTransport makes the connections to other nodes.
func newTransport() *http.Transport {
	return &http.Transport{DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, TLSHandshakeTimeout: dialTimeout,
		ResponseHeaderTimeout: answerTimeout, IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: 16}
}

// forward lets the node that has the session answer a request. It reports false for one that was forwarded
// already, which is refused.
func (s *Server) forward(r *request, e *managed.Error) bool {
	to, err := url.Parse(e.Address)
	if err != nil || to.Host == "" || r.Header.Get(forwardedHeader) != "" {
		return false
	}
	in := r.Request
	if r.sent != nil {
		in = in.Clone(in.Context())
		in.Body, in.ContentLength = io.NopCloser(bytes.NewReader(r.sent)), int64(len(r.sent))
	}
	proxy := httputil.ReverseProxy{
		Transport: s.cfg.Transport,
		ErrorLog:  zap.NewStdLog(s.cfg.Logger),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(to)
			p.Out.Header.Set(forwardedHeader, r.id)
			for _, h := range []string{"Origin", "Sec-Fetch-Site"} { // this node has checked them
				p.Out.Header.Del(h)
			}
		},
		ModifyResponse: func(resp *http.Response) error {
			for h := range resp.Header {
				r.w.Header().Del(h)
			}
			return nil
		},
		ErrorHandler: func(_ http.ResponseWriter, _ *http.Request, err error) {
			s.cfg.Logger.Warn("a node does not answer", zap.String("request", r.id), zap.String("node", e.Node), zap.Error(err))
			r.fail(529, "overloaded_error", "the node that has the session does not answer; try again")
		},
	}
	proxy.ServeHTTP(r.w, in)
	return true
}
