//go:build !unix

package main

import "io/fs"

// ownFile reports whether a file belongs to the user of this process: here modes do not say.
func ownFile(fs.FileInfo) bool { return true }
