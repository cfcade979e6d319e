// Package memory is a journal that ends with its process: for tests, and for runs that nobody
// resumes.
//
//	rt, err := managed.New(managed.Config{Journal: memory.New(), ...})
package memory
