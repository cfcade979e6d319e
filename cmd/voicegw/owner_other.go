//go:build !unix

package main

import "io/fs"

// ownFile reports whether a file belongs to the user of this process. On this system a file does
// not say whose it is.
func ownFile(fs.FileInfo) bool { return true }
