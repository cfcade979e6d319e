package main

import (
	"errors"
	"net/http"
	"strings"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/control"
)

// controlPath is the path of the control of calls, and of all paths below it.
const controlPath = "/v1/calls"

func isControlPath(path string) bool {
	return path == controlPath || strings.HasPrefix(path, controlPath+"/")
}

// operator serves the control of all calls, and the console, to whoever reaches the admin listener.
func (s *serving) operator() http.Handler {
	calls := s.control(func(*http.Request) (control.Actor, error) { return control.Actor{Name: "admin listener"}, nil })
	mux := http.NewServeMux()
	mux.Handle(controlPath, calls)
	mux.Handle(controlPath+"/", calls)
	mux.Handle(consolePath, s.console())
	return mux
}

// tenants serves the control of calls to requests with a token that is good for it, and leaves all other paths to
// next. Without keys to verify tokens it serves nothing.
func (s *serving) tenants(next http.Handler) http.Handler {
	if !s.guard.WantsTokens() {
		return next
	}
	h := plain(s.control(s.tokenHolder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isControlPath(r.URL.Path) {
			h.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// tokenHolder is whoever has the token of a request.
func (s *serving) tokenHolder(r *http.Request) (control.Actor, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return control.Actor{}, errors.New("the request needs a token: Authorization: Bearer TOKEN")
	}
	c, err := s.guard.Verify(r.Context(), token, access.ScopeControl)
	if err != nil {
		return control.Actor{}, err
	}
	return control.Actor{Name: strings.Trim(c.Tenant+"/"+c.Subject, "/") + " (token " + c.ID + ")", Tenant: c.Tenant}, nil
}

// control serves the control of calls.
func (s *serving) control(who func(*http.Request) (control.Actor, error)) http.Handler {
	h, err := control.New(control.Config{Gateway: s.gw, Authorize: who, Audit: s.audit, Targets: s.targets})
	if err != nil {
		panic(err) // nothing of the Config comes from outside
	}
	return h
}

// targets are those to which operators may hand calls off now; nil lets them name any address.
func (s *serving) targets() map[string]string {
	if named := s.rules.Load().targets; len(named) > 0 {
		return named
	}
	return nil
}
