// Package api serves a managed.Runtime over HTTP, in the format of Anthropic's sessions API: its official
// clients work unchanged but for the base URL and the key.
//
//	server, err := api.New(api.Config{Runtime: rt, Authorize: authorize})
//	mux.Handle("/v1/", server)
//
// What this API does not serve is refused, never ignored: a route with 404, a field with 400 and its name.
// docs/managed.md lists the routes, the events and the limits.
package api
