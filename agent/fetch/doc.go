// Package fetch is the HTTP client for requests that a model or a file asks for. It reaches the public network
// only, and what the operator allows besides.
//
//	c, err := fetch.New(fetch.Config{Allow: []string{"10.1.0.0/16", "crm.internal"}})
//	resp, err := c.Do(ctx, fetch.Request{URL: "https://crm.internal/customers/7"})
//
// The client checks the resolved address of every connection, those of redirects included, at the moment it is
// made. So no host name, no spelling of an address and no second answer of a resolver gets past the check. It
// uses no proxy, because a proxy would resolve names out of its sight.
package fetch
