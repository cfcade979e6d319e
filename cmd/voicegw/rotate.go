package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// rotatedFile is a file of lines that is renamed when it is full: calls.jsonl becomes
// calls-20060102T150405.000000000Z.jsonl. The oldest renamed files are deleted. One goroutine uses it.
type rotatedFile struct {
	dir, name, ending string
	bytesMax          int64
	filesMax          int // renamed files
	format            func(*callRecord) ([]byte, error)
	head              []byte // the first line of each file
	grown             bool   // a file was renamed since prune
	remove            func(path string) error
}

// add writes a record. A line that the disk takes only a part of is removed again. A file that ends in the middle of a
// line, as after a crash, is renamed like a full one, so that the new line is whole.
func (f *rotatedFile) add(r *callRecord) error {
	line, err := f.format(r)
	if err != nil {
		return err
	}
	path := filepath.Join(f.dir, f.name+f.ending)
	info, err := os.Stat(path)
	if err == nil && info.Size() > 0 && (info.Size()+int64(len(line)) > f.bytesMax || torn(path, info.Size())) {
		if err := f.rename(path); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(appendLine(file, f.head, line), file.Close())
}

// torn reports whether a file ends in the middle of a line.
func torn(path string, size int64) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	last := []byte{0}
	_, err = file.ReadAt(last, size-1)
	return err == nil && last[0] != '\n'
}

// appendLine appends a line to a file, behind head if the file is empty.
func appendLine(file *os.File, head, line []byte) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		line = append(slices.Clone(head), line...)
	}
	if n, err := file.Write(line); err != nil {
		if n > 0 {
			err = errors.Join(err, file.Truncate(info.Size()))
		}
		return err
	}
	return nil
}

// rename renames the full file. Another process, which takes calls beside this one, may have done so already.
func (f *rotatedFile) rename(path string) error {
	err := os.Rename(path, filepath.Join(f.dir, f.renamedAt(time.Now())))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f.grown = true
	return err
}

// renamedAt is the name of a file that is renamed at a time.
func (f *rotatedFile) renamedAt(at time.Time) string {
	return f.name + "-" + at.UTC().Format("20060102T150405.000000000Z") + f.ending
}

// prune deletes the oldest renamed files beyond filesMax, if one more was renamed.
func (f *rotatedFile) prune() error {
	if !f.grown {
		return nil
	}
	f.grown = false
	old, err := f.renamed()
	for ; err == nil && len(old) > f.filesMax; old = old[1:] {
		if err = f.remove(filepath.Join(f.dir, old[0])); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// renamed lists the renamed files, the oldest first.
func (f *rotatedFile) renamed() (list []string, err error) {
	entries, err := os.ReadDir(f.dir) // in the order of names, which is that of time
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), f.name+"-") && strings.HasSuffix(e.Name(), f.ending) && e.Type().IsRegular() {
			list = append(list, e.Name())
		}
	}
	return list, err
}

// keptFile is a file with what decides whether it is kept.
type keptFile struct {
	name  string
	bytes int64
	at    time.Time
}

// surplus returns the files to delete so that the others are within limits: the oldest first. 0 is no
// limit.
func surplus(files []keptFile, bytesMax int64, filesMax int, oldest time.Time) (list []string) {
	slices.SortFunc(files, func(a, b keptFile) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name))
	})
	var sum int64
	for _, f := range files {
		sum += f.bytes
	}
	for i, f := range files {
		tooMany := filesMax > 0 && len(files)-i > filesMax
		if !tooMany && !(bytesMax > 0 && sum > bytesMax) && !f.at.Before(oldest) {
			return list
		}
		list, sum = append(list, f.name), sum-f.bytes
	}
	return list
}
