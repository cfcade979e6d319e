// Package verifytest lets a test prove what a net must keep:
//
//	verifytest.Prove(t, prog, verify.Config{}, verify.DeadlockFree(), verify.Never("closed && on >= 1"))
package verifytest
