//go:build !unix

package jetstream

// lock does nothing here: the operator keeps other processes out.
func lock(string) (func(), error) { return func() {}, nil }
