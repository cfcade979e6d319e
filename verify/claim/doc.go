// Package claim defines the kinds of claims that a property makes about a net.
//
// A Claim is a value: Never{Expr: "a && b"}, Capacity{}, a Move, a Watch. Bad binds claims about
// markings to a model, Bind binds claims about moves; Text is what certificates carry.
package claim
