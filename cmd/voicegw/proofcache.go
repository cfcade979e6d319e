package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// proofCache keeps the certificates that this binary made in a directory of its own: DIR/HASH,
// where HASH is that of the executable. It loads only files that belong to this user and that
// nobody else can write, and warns of any other. It is safe for concurrent use.
type proofCache struct {
	dir   func() (string, error) // of this binary
	mu    sync.Mutex             // of warnings
	notes proofNotes
}

func newProofCache(dir string, notes proofNotes) *proofCache {
	return &proofCache{notes: notes, dir: sync.OnceValues(func() (string, error) {
		hash, err := executableHash()
		return filepath.Join(dir, hash), err
	})}
}

// executableHash returns a hash of the running program, even if its file was replaced since.
func executableHash() (string, error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		name, err := os.Executable()
		if err != nil {
			return "", err
		}
		if f, err = os.Open(name); err != nil {
			return "", err
		}
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), nil
}

// certificateMax is the size of the largest certificate loaded, in bytes.
const certificateMax = 256 << 20

// Load returns fs.ErrNotExist for a certificate that is missing or not trusted.
func (c *proofCache) Load(name string) ([]byte, error) {
	dir, err := c.dir()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, name)
	for _, path := range []string{dir, file} { // before opening: opening a pipe waits for a writer
		info, err := os.Lstat(path)
		if err != nil {
			return nil, err
		}
		if problem := distrust(info); problem != "" {
			c.warn("%s %s, so it is not trusted and the nets are proved again; remove it", info.Name(), problem)
			return nil, fs.ErrNotExist
		}
	}
	return os.ReadFile(file)
}

func (c *proofCache) warn(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.notes.warn(fmt.Sprintf("the cache of proofs: "+format, args...))
}

// distrust says why a file or directory is not trusted, "" if it is.
func distrust(info fs.FileInfo) string {
	switch {
	case !info.IsDir() && !info.Mode().IsRegular():
		return "is not a regular file"
	case info.Mode().IsRegular() && info.Size() > certificateMax:
		return "is too large"
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("can be written by others (mode %04o)", info.Mode().Perm())
	case !ownFile(info):
		return "belongs to another user"
	}
	return ""
}

// Store writes a file whole or not at all.
func (c *proofCache) Store(name string, certificate []byte) error {
	dir, err := c.dir()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		prune(filepath.Dir(dir))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, name)
	if err != nil {
		return err
	}
	_, err = f.Write(certificate)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// binariesMax limits the binaries whose certificates are kept.
const binariesMax = 4

// prune makes room for another binary: it removes the least recently changed directories.
func prune(dir string) {
	entries, _ := os.ReadDir(dir) // without a directory there is nothing to remove
	age := map[string]int64{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			age[e.Name()] = info.ModTime().UnixNano()
		}
	}
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(age[b.Name()], age[a.Name()]) })
	for _, e := range entries[min(len(entries), binariesMax-1):] {
		_ = os.RemoveAll(filepath.Join(dir, e.Name()))
	}
}
