package tools

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/voicegw/voicegw/agent/managed"
)

// Limits of storage.
const (
	quotaDefault = 100 << 20
	fileMax      = 16 << 20 // bytes
	filesMax     = 10_000
	storePathMax = 512 // bytes
	storeNameMax = 200 // bytes of a part of a path
)

// Names of files that are no business of the tool begin with ownPrefix: those that are being written, and the folder of
// artifacts.
const (
	ownPrefix  = ".voicegw-"
	tempPrefix = ownPrefix + "writing-"
)

// Folder is a folder of files with a quota, which belongs to this process alone. It is safe for concurrent use.
type Folder struct {
	path  string
	quota int64
	mu    sync.Mutex // held while something is written

	saving sync.Mutex // held while a version of an artifact is chosen and written
}

// OpenFolder opens a folder, which must exist. quota is how many bytes all files in it may have together; 0 is 100 MiB.
func OpenFolder(path string, quota int64) (*Folder, error) {
	if quota < 0 {
		return nil, fmt.Errorf("tools: the quota of %s is %d bytes; it must not be negative", path, quota)
	}
	if quota == 0 {
		quota = quotaDefault
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("tools: %w; make the folder first", err)
	}
	defer func() { _ = root.Close() }()
	left, err := fs.Glob(root.FS(), tempPrefix+"*") // by a process that was killed
	for _, name := range left {
		err = errors.Join(err, root.Remove(name))
	}
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	return &Folder{path: path, quota: quota}, nil
}

func (s *Folder) call(_ context.Context, c managed.ToolCall) (map[string]any, error) {
	name, _ := c.Args["path"].(string)
	if err := checkPath(name); err != nil {
		return nil, err
	}
	root, err := s.root()
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	data, isText := c.Args["data"].(string)
	switch action := c.Args["action"]; action {
	case "read":
		data, err = s.read(root, name)
		if err != nil {
			return nil, told(name, err)
		}
		return map[string]any{"content": data, "bytes": float64(len(data))}, nil
	case "write", "append":
		if v, has := c.Args["data"]; !has {
			return nil, fmt.Errorf("the argument data is missing: what to %s", action)
		} else if !isText {
			b, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("data is no JSON: %w", err)
			}
			data = string(b)
		}
		if err := s.write(root, name, data, action == "append"); err != nil {
			return nil, told(name, err)
		}
		return map[string]any{"bytes": float64(len(data))}, nil
	}
	return nil, fmt.Errorf("the action is %.20q; it must be read, write or append", c.Args["action"])
}

func (s *Folder) root() (*os.Root, error) {
	root, err := os.OpenRoot(s.path)
	if err != nil {
		return nil, errors.New("the folder of storage is gone; tell the operator")
	}
	return root, nil
}

// checkPath refuses paths that name nothing in the folder on every system.
func checkPath(name string) error {
	switch {
	case len(name) > storePathMax:
		return fmt.Errorf("the path has %d bytes; at most %d are allowed", len(name), storePathMax)
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, "\\:\x00") || !utf8.ValidString(name):
		return fmt.Errorf("the path %.80q must be relative, such as reports/today.md, without \"..\", \"\\\" and \":\"", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > storeNameMax || strings.HasPrefix(part, ownPrefix) {
			return fmt.Errorf("a part of the path has %d bytes, more than %d, or is reserved: %.40q", len(part), storeNameMax,
				part)
		}
	}
	return nil
}

// told is an error of the file system without the paths of this machine.
func told(name string, err error) error {
	var in *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %q", name)
	case errors.As(err, &in):
		return fmt.Errorf("%q: %w", name, in.Err)
	}
	return err
}

// open opens a regular file. It does not wait for one that is none, such as a pipe.
func open(root *os.Root, name string, flag int) (*os.File, int64, error) {
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is no file but a %s", name, info.Mode().Type())
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func (s *Folder) read(root *os.Root, name string) (string, error) {
	f, _, err := open(root, name, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, fileMax+1))
	switch {
	case err != nil:
		return "", err
	case len(b) > fileMax:
		return "", fmt.Errorf("the file %q has more than %d bytes, the most there may be", name, fileMax)
	case !utf8.Valid(b):
		return "", fmt.Errorf("the file %q is no text", name)
	}
	return string(b), nil
}

// write replaces a file, or adds to it. A file is replaced as a whole or not at all, whenever the process ends.
func (s *Folder) write(root *os.Root, name, data string, add bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, old, err := open(root, name, os.O_WRONLY|os.O_APPEND)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		add = false
	case err != nil:
		return err
	default:
		defer func() { _ = f.Close() }()
	}
	grow, now := int64(len(data)), int64(len(data))
	if add {
		now += old
	} else {
		grow -= old
	}
	if now > fileMax {
		return fmt.Errorf("the file %q would have %d bytes; at most %d are allowed", name, now, fileMax)
	}
	if err := s.room(root, grow, f == nil); err != nil {
		return err
	}
	if add {
		if _, err := f.WriteString(data); err != nil {
			return errors.Join(err, f.Truncate(old))
		}
		return f.Sync()
	}
	return replace(root, name, data)
}

func replace(root *os.Root, name, data string) error {
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	temp := tempPrefix + rand.Text()
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}

// room refuses to grow beyond the quota, or the number of files.
func (s *Folder) room(root *os.Root, grow int64, fresh bool) error {
	used, files := int64(0), 0
	err := fs.WalkDir(root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if files++; !d.Type().IsRegular() {
			return nil
		}
		info, err := d.Info()
		if err == nil {
			used += info.Size()
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case used+grow > s.quota && grow > 0:
		return fmt.Errorf("the quota is %d bytes, of which %d are used: there is no room for %d more; write "+
			"less, or tell the "+
			"operator", s.quota, used, grow)
	case fresh && files > filesMax:
		return fmt.Errorf("there are %d files and folders, the most there may be", filesMax)
	}
	return nil
}
