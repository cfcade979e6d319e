// Package endpointtest is a world for tests of endpoints: an embedded model, a gateway in front of
// it, an endpoint of the gateway on a loopback port, and judges of what a caller heard.
//
//	w := endpointtest.New(t, endpointtest.Plan{Endpoint: func(l transport.Lines) (endpointtest.Endpoint, error) {
//		return x.New(x.Config{Lines: l})
//	}})
//	... talk to w.URL ...
//	endpointtest.Echo(t, heard, "question")
package endpointtest
