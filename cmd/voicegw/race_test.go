//go:build race

package main

// raced says that the tests, and so the binary they drive, look for data races.
const raced = true
