package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/voicenets/claims"
	"github.com/voicegw/voicegw/voicenets/prove"
)

// proofTimeout limits the proof of the nets when serve starts. It takes a few seconds of a
// processor, on a machine that may be busy with the calls of the process before it.
const proofTimeout = 2 * time.Minute

// proveNets checks or makes the proofs of the gateway's nets. Serve takes no calls on a net
// without. It returns how many nets are proved. Meanwhile it shows on stderr how far it is, or in the log if that is no
// terminal.
func proveNets(ctx context.Context, gw *voicegw.Gateway, stderr io.Writer, log *zap.Logger) (proved int, err error) {
	return proveNoting(ctx, gw, printedNotes{stderr}, newProofProgress(stderr, log))
}

// proofNotes takes what a proof tells people, a line each, without its line break.
type proofNotes interface {
	note(line string)
	warn(line string)
}

// printedNotes prints each line.
type printedNotes struct{ out io.Writer }

func (p printedNotes) note(line string) { fmt.Fprintln(p.out, line) }
func (p printedNotes) warn(line string) { fmt.Fprintln(p.out, "warning: "+line) }

// proveNoting is proveNets for notes that are not only printed. It ends the progress shown.
func proveNoting(ctx context.Context, gw *voicegw.Gateway, notes proofNotes, shown *proofProgress) (
	proved int, err error) {
	defer shown.end()
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	defer spareMemory()
	spendMemory()
	var cache claims.Cache
	kept := "nowhere"
	tolerant := &tolerantCache{notes: notes}
	if dir, err := os.UserCacheDir(); err == nil {
		kept = filepath.Join(dir, "voicegw", "proofs")
		tolerant.kept = newProofCache(kept, notes)
		cache = tolerant
	}
	began := time.Now()
	proofs, err := prove.Watched(ctx, cache, shown.step, gw.Nets()...)
	if errors.Is(err, check.ErrCertificate) && tolerant.used() {
		notes.note(fmt.Sprintf("a certificate in %s is damaged, so all nets are proved again: %v", kept, err))
		tolerant.distrust()
		proofs, err = prove.Watched(ctx, cache, shown.step, gw.Nets()...)
	}
	shown.end()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return 0, fmt.Errorf("the nets of calls were not proved within %v; a smaller timing.budget makes the proof "+
			"faster: %w", proofTimeout, err)
	case errors.Is(err, context.Canceled):
		return 0, errors.New("ended before the nets of calls were proved")
	case err != nil:
		return 0, fmt.Errorf("the nets of calls are not proved, so serve takes no calls (certificates of your own settings "+
			"are kept in %s): %w", kept, err)
	}
	count, source := 0, claims.FromShipped
	for _, p := range proofs {
		count += len(p.Claims)
		if p.Source == claims.FromNow {
			source = p.Source
			notes.note(fmt.Sprintf("proved a net with these settings (%s): %d claims, %d markings", p.Name, len(p.Claims),
				p.Markings))
		}
	}
	verb := "checked"
	if source == claims.FromNow {
		verb = "made and checked"
	}
	kinds := "1 kind"
	if len(proofs) != 1 {
		kinds = fmt.Sprintf("%d kinds", len(proofs))
	}
	notes.note(fmt.Sprintf("the nets of calls are proved: %d claims about %s of session, certificates %s in %.1f s",
		count, kinds, verb, time.Since(began).Seconds()))
	return len(proofs), nil
}

// gcPercent is GOGC while calls run, unless the user sets it. A call makes so little garbage that
// collections are rare even so.
const gcPercent = 35

// proofGCPercent is GOGC during the proofs, which need some 200 MB for a moment.
const proofGCPercent = 400

// spendMemory lets garbage grow while the nets of calls are proved.
func spendMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(proofGCPercent)
	}
}

// spareMemory returns the memory of the proofs to the system and limits the garbage of calls.
func spareMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	debug.FreeOSMemory()
}

// tolerantCache is a cache whose failures only cost time: it warns once, and the nets are proved
// again. Safe for concurrent use.
type tolerantCache struct {
	kept  claims.Cache
	notes proofNotes

	mu                         sync.Mutex
	loaded, distrusted, warned bool
}

// Load returns fs.ErrNotExist for a certificate that it cannot read.
func (c *tolerantCache) Load(name string) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.distrusted {
		return nil, fs.ErrNotExist
	}
	data, err := c.kept.Load(name)
	if err == nil {
		c.loaded = true
		return data, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		c.warn(err)
	}
	return nil, fs.ErrNotExist
}

// Store keeps a certificate, if that is possible.
func (c *tolerantCache) Store(name string, certificate []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.kept.Store(name, certificate); err != nil {
		c.warn(err)
	}
	return nil
}

// warn reports the first failure of the cache; mu is held.
func (c *tolerantCache) warn(err error) {
	if !c.warned {
		c.notes.warn(fmt.Sprintf("certificates cannot be kept, so every start proves the nets again: %v", err))
	}
	c.warned = true
}

// used reports whether a certificate came from the cache.
func (c *tolerantCache) used() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.loaded
}

// distrust ends loading; new certificates replace the old.
func (c *tolerantCache) distrust() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.distrusted = true
}
