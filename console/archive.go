package console

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"

	"github.com/voicegw/voicegw/petri"
	"github.com/voicegw/voicegw/petri/event"
)

const archiveEnding = ".jsonl"

// fileOf returns the file of an archive.
func (s *server) fileOf(name string) (string, error) {
	file := name + archiveEnding
	if s.cfg.Archives == nil || !fs.ValidPath(file) || strings.ContainsAny(name, `/\`) {
		return "", noArchive(name)
	}
	info, err := fs.Stat(s.cfg.Archives, file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() { // to open a pipe might take for ever
		return "", noArchive(name)
	}
	if err != nil {
		return "", fmt.Errorf("console: %w", err)
	}
	return file, nil
}

func noArchive(name string) error {
	return &problem{http.StatusNotFound, fmt.Sprintf("there is no archive %q", name)}
}

// open opens an archive and finds its net. The caller closes it.
func (s *server) open(name string) (*event.Reader, *petri.Program, io.Closer, error) {
	file, err := s.fileOf(name)
	if err != nil {
		return nil, nil, nil, err
	}
	f, err := s.cfg.Archives.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil, noArchive(name)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("console: %w", err)
	}
	r, err := event.NewReader(f)
	if err != nil {
		_ = f.Close()
		return nil, nil, nil, &problem{http.StatusUnprocessableEntity, fmt.Sprintf("%s cannot be read: %v", file, err)}
	}
	prog, err := s.cfg.Net(r.Header.Hash)
	if err != nil {
		err = s.otherNet(file, r, err)
		_ = f.Close()
		return nil, nil, nil, err
	}
	return r, prog, f, nil
}

// otherNet returns the error for an archive whose net this console does not have. Only the header
// of the archive has been read.
func (s *server) otherNet(file string, r *event.Reader, cause error) error {
	if s.cfg.Names != nil {
		names, err := s.cfg.Names()
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		if other := names.Other(r, pageEvents); other != "" {
			return &problem{http.StatusConflict, fmt.Sprintf("%s was written by a version of voicegw with other names: "+
				"no net of this version has %q. No setting helps; open it with the version that wrote it", file, other)}
		}
	}
	return &problem{http.StatusConflict, fmt.Sprintf("%s was written by net %q with other settings, "+
		"or by another version of it: %v", file, r.Header.Net, cause)}
}

// archived shows an archived call.
func (s *server) archived(r *http.Request, to *sender) error {
	name := r.PathValue("name")
	read, prog, file, err := s.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	rec := newRecorder(prog.Track())
	head := Head{Call: Call{ID: read.Header.Run, Began: read.Header.Start}, Net: s.know(prog),
		Marking: make([]int32, prog.Slots())}
	if head.Call.ID == "" {
		head.Call.ID = name
	}
	if to.begin(head) != nil {
		return nil // the client is gone
	}
	for {
		n, err := rec.read(read, pageEvents)
		if to.send("batch", rec.flush(rec.t.Now())) != nil {
			return nil
		}
		if err != nil {
			to.over(trouble(read, rec, err))
			return nil
		}
		if n == 0 {
			return nil
		}
	}
}

var errTooLong = fmt.Errorf("it has more than %d events; the rest is not shown", eventsMax)

// read takes up to n events of an archive. At its end it returns io.EOF.
func (r *recorder) read(from *event.Reader, n int) (taken int, err error) {
	for ; taken < n; taken++ {
		e, err := from.Next()
		if err != nil {
			return taken, err
		}
		if e.Seq > eventsMax {
			return taken, errTooLong
		}
		if err := r.take(e); err != nil {
			return taken, err
		}
	}
	return taken, nil
}

// trouble says why an archive ends where it does, "" if it is complete.
func trouble(from *event.Reader, r *recorder, err error) string {
	end := clock(ms(r.t.Now()))
	switch {
	case errors.Is(err, io.EOF) && from.Cut():
		return fmt.Sprintf("The last line of the archive is cut off, as after a crash or on a full disk: it ends at %s.", end)
	case errors.Is(err, io.EOF) && r.t.Seq() == 0:
		return "The archive has no events."
	case errors.Is(err, io.EOF) && !r.t.Ended():
		return fmt.Sprintf("The archive ends at %s, before the call does.", end)
	case errors.Is(err, io.EOF):
		return ""
	case errors.Is(err, event.ErrIncomplete):
		return fmt.Sprintf("The archive is incomplete: events after %s are missing.", end)
	case errors.Is(err, petri.ErrTrack):
		return fmt.Sprintf("The archive is damaged, or is another net's, after %s: %v.", end, err)
	}
	return fmt.Sprintf("The archive is damaged after %s: %v.", end, err)
}
