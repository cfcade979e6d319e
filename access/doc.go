// Package access decides who may call, and how much.
//
// A Guard checks the hello of each call: it verifies the call token (a JWT) and counts the call
// against the Limits of its network address, its tenant and its subject. It returns a Grant, or a
// *transport.Refused that says why not. The Grant holds what the token allows, and is released when
// the call ends:
//
//	guard, err := access.New(access.Config{Secrets: [][]byte{secret}, Tenant: access.Limits{Calls: 10}})
//	grant, err := guard.Check(ctx, &hello)
//	if err != nil { // a *transport.Refused
//		...
//	}
//	defer grant.Release()
//
// A gateway does this for every endpoint once NewLines has put a guard before its lines.
//
// Mint makes tokens. So can any JWT library: docs/access.md lists the claims. A Load makes the
// guard refuse calls while the machine is overloaded. Only Load.Run needs a goroutine; the package
// starts none.
package access
