// Package access decides who may call, and how much at a time.
//
// The nouns are Guard, Grant, Claims and Limits. A Guard is asked about each call's hello; it looks at the call token
// (a JWT), takes what the call needs from the caller's quotas, and gives a Grant, or says with a *transport.Refused
// why not. The Grant says what the token allows and is released when the call is over:
//
//	guard, err := access.New(access.Config{Secrets: [][]byte{secret}, Tenant: access.Limits{Calls: 10}})
//	grant, err := guard.Check(ctx, &hello)
//	if err != nil { // a *transport.Refused
//		...
//	}
//	defer grant.Release()
//
// How much is left is in Petri nets: a Quota net for each address, tenant and subject of a token, and an Attempt net
// for each call, which takes permits from the three and gives back every one it took. The nets that run are the nets
// that are proved: together, under callers that come and go as they like, no limit is exceeded, no permit is lost and
// none is made (Properties).
//
// Tokens are made by Mint, or by anybody who signs a JWT with the claims of docs/access.md. The package starts no
// goroutine.
package access
