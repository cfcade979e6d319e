// Package claims states what a session of package voicenets must keep, and proves it. Hostile
// closes the session with automata of its environment. Proofs and Claims are properties of the
// closed net. Prover decides them: it checks certificates that ship with this package or lie in a
// cache, and searches where it has none.
//
//	proofs, err := claims.Prover{}.Prove(ctx, voicenets.Config{})
//	err = proofs[0].Err() // nil if every claim is proved
package claims
