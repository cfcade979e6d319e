package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/voicegw/voicegw/settings"
)

// archivesEvery is how often archives are held to their limits.
const archivesEvery = time.Minute

// archives deletes the oldest archives of calls beyond the limits of the settings.
type archives struct {
	dir     string
	limits  settings.ArchiveLimits
	runs    func(call string) bool // the call runs: its archive is kept
	log     *zap.Logger
	removed atomic.Uint64
	files   atomic.Int64
	bytes   atomic.Int64
}

// run holds the archives to their limits until ctx is done.
func (a *archives) run(ctx context.Context) {
	if a.dir == "" {
		return
	}
	tick := time.NewTicker(archivesEvery)
	defer tick.Stop()
	for {
		if err := a.prune(time.Now()); err != nil {
			a.log.Error("archives are not held to their limits", zap.Error(err))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// prune deletes the archives beyond the limits. It leaves other files alone.
func (a *archives) prune(now time.Time) error {
	files, err := a.list()
	if err != nil {
		return err
	}
	oldest := time.Time{}
	if a.limits.Age > 0 {
		oldest = now.Add(-a.limits.Age)
	}
	count, sum := int64(len(files)), int64(0)
	size := map[string]int64{}
	for _, f := range files {
		size[f.name] = f.bytes
		sum += f.bytes
	}
	for _, name := range surplus(files, a.limits.Bytes, a.limits.Files, oldest) {
		if a.runs(strings.TrimSuffix(name, settings.ArchiveEnding)) {
			continue
		}
		if rerr := os.Remove(filepath.Join(a.dir, name)); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
			continue
		}
		a.removed.Add(1)
		count, sum = count-1, sum-size[name]
	}
	a.files.Store(count)
	a.bytes.Store(sum)
	return err
}

// list lists the archives: files with the name of a call.
func (a *archives) list() (files []keptFile, err error) {
	entries, err := os.ReadDir(a.dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "c-") || !strings.HasSuffix(e.Name(), settings.ArchiveEnding) ||
			!e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil { // else somebody has deleted it
			files = append(files, keptFile{e.Name(), info.Size(), info.ModTime()})
		}
	}
	return files, err
}

// runs reports whether a call runs. One that begins or ends at this moment has a new archive.
func (s *serving) runs(call string) bool {
	_, up := s.gw.Session(call)
	return up
}

// metrics returns how many archives there are, how large they are, and how many were deleted.
func (a *archives) metrics() []prometheus.Collector {
	gauge := func(name, help string, v *atomic.Int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "voicegw", Name: name, Help: help},
			func() float64 { return float64(v.Load()) })
	}
	return []prometheus.Collector{
		gauge("archive_files", "Archives of calls on the disk, counted once a minute.", &a.files),
		gauge("archive_bytes", "Size of the archives on the disk, counted once a minute.", &a.bytes),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "voicegw", Name: "archives_removed_total",
			Help: "Archives that were deleted because of archive_max_bytes, archive_max_files or archive_max_age."},
			func() float64 { return float64(a.removed.Load()) }),
	}
}
