package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/journal"
	"github.com/voicegw/voicegw/journal/memory"
	"github.com/voicegw/voicegw/settings"
)

// checkStatus is the outcome of a check.
type checkStatus string

// The outcomes. Unknown is not ok: the check could not find out.
const (
	statusOK      checkStatus = "ok"
	statusWarn    checkStatus = "warn"
	statusUnknown checkStatus = "unknown"
	statusFail    checkStatus = "fail"
)

// checkResult is what one check found.
type checkResult struct {
	Check  string      `json:"check"`
	Status checkStatus `json:"status"`
	Detail string      `json:"detail"`
	Do     string      `json:"do,omitempty"` // what to do about it

	usage bool // the user made a mistake
}

// checkResults are what the checks of a command found, in their order.
type checkResults []checkResult

// add adds a result.
func (f *checkResults) add(check string, s checkStatus, do, format string, args ...any) {
	*f = append(*f, checkResult{Check: check, Status: s, Detail: fmt.Sprintf(format, args...), Do: do})
}

// failed adds the result of a check that failed. It reports whether err is not nil.
func (f *checkResults) failed(check string, err error) bool {
	if err != nil {
		*f = append(*f, checkResult{Check: check, Status: statusFail, Detail: err.Error(),
			usage: errors.As(err, new(*usageError))})
	}
	return err != nil
}

// result returns the outcome of all checks: the worst of theirs, and the exit code.
func (f checkResults) result() (checkStatus, int) {
	has := func(s checkStatus) bool {
		return slices.ContainsFunc(f, func(one checkResult) bool { return one.Status == s })
	}
	switch {
	case slices.ContainsFunc(f, func(one checkResult) bool { return one.usage }):
		return statusFail, exitUsage
	case has(statusFail):
		return statusFail, exitFailed
	case has(statusUnknown):
		return statusUnknown, exitOpen
	case has(statusWarn):
		return statusWarn, 0
	}
	return statusOK, 0
}

// report prints the results. Its error holds the exit code, unless that is 0.
func (f checkResults) report(w io.Writer, asJSON bool) error {
	worst, code := f.result()
	if asJSON {
		out := struct {
			Status checkStatus  `json:"status"`
			Checks checkResults `json:"checks"`
		}{worst, f}
		if err := printJSON(w, out); err != nil {
			return err
		}
	} else if err := f.print(w); err != nil {
		return err
	}
	if code == 0 {
		return nil
	}
	var bad []string
	for _, one := range f {
		if one.Status == statusFail || one.Status == statusUnknown {
			bad = append(bad, one.Check+" ("+string(one.Status)+")")
		}
	}
	return answerf(code, "%s", strings.Join(bad, ", "))
}

// print prints a line for each result, and below it what to do.
func (f checkResults) print(w io.Writer) error {
	for _, one := range f {
		detail := strings.ReplaceAll(one.Detail, "\n", "\n"+strings.Repeat(" ", 22))
		if _, err := fmt.Fprintf(w, "%-8s %-12s %s\n", one.Status, one.Check, detail); err != nil {
			return err
		}
		if one.Do == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%21s do: %s\n", "", one.Do); err != nil {
			return err
		}
	}
	return nil
}

// settingsResults are the mistakes in settings, or the notes about them.
func settingsResults(s *settings.Settings, err error) (f checkResults) {
	if err != nil {
		list := settings.Error{err}
		errors.As(err, &list)
		for _, one := range list {
			f = append(f, checkResult{Check: "settings", Status: statusFail, Detail: one.Error(), usage: true})
		}
		return f
	}
	f.add("settings", statusOK, "", "valid")
	for _, note := range s.Notes {
		f.add("settings", statusWarn, "", "%s", note)
	}
	return f
}

// checkServe does what serve does before it takes calls, and undoes it. It listens for a moment. It
// keeps sessions of agents in memory, because another process may be using their journal.
func checkServe(ctx context.Context, set *settings.Settings, wrong error) checkResults {
	f := settingsResults(set, wrong)
	if wrong != nil {
		return f
	}
	notes := len(set.Notes)
	f.checkDirectories(set)
	f.checkServing(ctx, set)
	for _, note := range set.Notes[notes:] { // about files with secrets, which opening them found
		f.add("settings", statusWarn, "", "%s", note)
	}
	return f
}

// checkServing opens and closes what serve opens.
func (f *checkResults) checkServing(ctx context.Context, set *settings.Settings) {
	m, err := openModel(set)
	if f.failed("model", err) {
		return
	}
	defer func() { _ = m.close() }()
	f.add("model", statusOK, "", "%s", m.where)
	s, err := newServing(set, m, zap.NewNop())
	if err != nil {
		f.failed("gateway", &usageError{err})
		return
	}
	defer s.webhooks.close()
	defer func() { _ = s.gw.Close() }()
	if f.failed("endpoints", s.open()) {
		return
	}
	defer func() { _ = s.endpoints.Close() }()
	f.add("endpoints", statusOK, "", "%s", strings.Join(append([]string{"/v1/voice"}, set.Endpoints...), ", "))
	f.checkProofs(ctx, s)
	f.checkSessions(ctx, s)
	if err := s.listen(); !f.failed("listen", err) {
		f.add("listen", statusOK, "", "%s", s.server.url)
		_ = s.server.listener.Close()
		for _, note := range s.server.notes {
			f.add("listen", statusOK, "", "%s", note)
		}
	}
	admin, err := openAdmin(set, s.gate, s.gate, s.operator(), zap.NewNop())
	if !f.failed("admin", err) && admin != nil {
		f.add("admin", statusOK, "", "%s", admin.url())
		admin.close()
	}
}

// checkProofs proves the nets of calls.
func (f *checkResults) checkProofs(ctx context.Context, s *serving) {
	var said checkResults
	_, err := proveNoting(ctx, s.gw, &said, newProofProgress(io.Discard, zap.NewNop()))
	if !f.failed("proofs", err) {
		*f = append(*f, said...)
	}
}

// note and warn add what a proof tells people.
func (f *checkResults) note(line string) { f.add("proofs", statusOK, "", "%s", line) }
func (f *checkResults) warn(line string) { f.add("proofs", statusWarn, "", "warning: %s", line) }

// checkSessions opens the sessions API in memory.
func (f *checkResults) checkSessions(ctx context.Context, s *serving) {
	set := s.settings
	if !set.HasSessions() {
		return
	}
	inMemory := func(context.Context, *settings.Settings, string) (journal.Engine, error) { return memory.New(), nil }
	var err error
	s.sessions, err = openSessionsIn(ctx, inMemory, set, s.guard, zap.NewNop(), managed.Prove)
	if f.failed("sessions", err) {
		return
	}
	defer s.sessions.close(context.WithoutCancel(ctx))
	if err := s.checkAgents(ctx); f.failed("sessions", err) {
		return
	}
	f.add("sessions", statusOK, "", "claims proved: %d, agents from files: %d", s.sessions.claims, s.sessions.agents)
	const do = "voicegw doctor asks a running gateway"
	f.add("journal", statusUnknown, do, "not opened, because a gateway that runs may be using it")
}

// checkDirectories checks that the directories of settings can be written.
func (f *checkResults) checkDirectories(set *settings.Settings) {
	for _, d := range []struct{ key, path string }{{"archive", set.Archive}, {"records.dir", set.Records.Dir},
		{"data_dir", set.DataDir}, {"workflow.storage", set.Workflow.Storage}, {"tls.acme_cache", set.TLS.ACME.Folder}} {
		if d.path == "" {
			continue
		}
		if made, err := writable(d.path); err != nil {
			f.add(d.key, statusFail, "name another directory, or let this user write to it", "%v", err)
		} else {
			f.add(d.key, statusOK, "", "%s %s", d.path, made)
		}
	}
}

// writable checks that a directory can be written, or that it can be made. It leaves nothing behind.
func writable(dir string) (string, error) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if errors.Is(err, os.ErrNotExist) && at != filepath.Dir(at) {
			if link, err := os.Readlink(at); err == nil {
				return "", fmt.Errorf("%s is a link to %s, which is not there", at, link)
			}
			continue
		}
		if err != nil {
			return "", err
		}
		if !info.IsDir() {
			return "", fmt.Errorf("%s is not a directory", at)
		}
		file, err := os.CreateTemp(at, ".voicegw-check-*")
		if err != nil {
			return "", err
		}
		err = errors.Join(file.Close(), os.Remove(file.Name()))
		if at != filepath.Clean(dir) {
			return "can be made", err
		}
		return "can be written", err
	}
}
