package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/settings"
)

// callsCommand shows calls that have ended, from their records and archives.
func callsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "calls",
		Short: "list calls that have ended, describe one, or export one for a bug report",
		Long: "calls reads the records of records.dir and the archives of archive, which serve wrote. It takes both\n" +
			"settings as serve does: as flags, variables, or from the file of --config.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(listCallsCommand(), showCallCommand(), exportCallCommand())
	return cmd
}

// callSettings adds the settings that say where calls are kept, and returns what reads them.
func callSettings(cmd *cobra.Command) func() (*settings.Settings, error) {
	addSettingFlags(cmd, slices.DeleteFunc(settings.Rows(), func(r settings.Row) bool {
		return r.Key != "archive" && r.Key != "records.dir"
	}))
	return func() (*settings.Settings, error) { return configure(cmd.Flags(), os.Environ()) }
}

// callFilter selects calls.
type callFilter struct {
	since, until                       string
	from, to, endpoint, reason, client string
	shortest                           time.Duration
	most                               int
	asJSON                             bool
}

func listCallsCommand() *cobra.Command {
	var f callFilter
	cmd := &cobra.Command{Use: "list", Short: "list calls, the oldest first", Args: noArguments}
	read := callSettings(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "",
		"only calls that began since then: \"2026-11-28 14:00\" (local time), 2026-11-28T13:00:00Z, or 2h for 2h ago")
	flags.StringVar(&f.until, "until", "", "only calls that began before then")
	flags.StringVar(&f.from, "from", "", "only calls from a number that contains this")
	flags.StringVar(&f.to, "to", "", "only calls to a number that contains this")
	flags.StringVar(&f.endpoint, "endpoint", "", "only calls of an endpoint, such as twilio")
	flags.StringVar(&f.reason, "reason", "", "only calls that ended for a reason, such as model_lost")
	flags.StringVar(&f.client, "client", "", "only calls of a client")
	flags.DurationVar(&f.shortest, "min-duration", 0, "only calls of this length or longer")
	flags.IntVar(&f.most, "limit", 100, "at most so many, the newest")
	outputFlag(cmd, &f.asJSON, "a line for each record")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		s, err := read()
		if err != nil {
			return err
		}
		return listCalls(s, &f, time.Now(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// moment reads a time, which may be one of the time zone of this machine, or how long ago it was; "" is no time.
func moment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(strings.TrimSuffix(text, " ago")); err == nil {
		return now.Add(-d.Abs()), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usagef(`--%s is %q; want a time such as "2026-11-28 14:00" or 2026-11-28T13:00:00Z, or a length `+
		"of time such as 2h", flag, text)
}

// listCalls prints the calls that a filter selects.
func listCalls(s *settings.Settings, f *callFilter, now time.Time, stdout, stderr io.Writer) error {
	since, err := moment("since", f.since, now)
	if err != nil {
		return err
	}
	until, err := moment("until", f.until, now)
	if err != nil {
		return err
	}
	if f.most < 1 {
		return usagef("--limit is %d; want 1 or more", f.most)
	}
	var list []*callRecord
	damaged, err := eachRecord(s, func(r *callRecord) {
		if (since.IsZero() || !r.Began.Before(since)) && (until.IsZero() || r.Began.Before(until)) && f.takes(r) {
			list = append(list, r)
		}
	})
	if err != nil && len(list) == 0 {
		return err
	}
	slices.SortStableFunc(list, func(a, b *callRecord) int { return a.Began.Compare(b.Began) })
	list = list[max(0, len(list)-f.most):]
	if damaged > 0 {
		fmt.Fprintf(stderr, "%d lines of %s are no records\n", damaged, s.Records.Dir)
	}
	for _, r := range list {
		if f.asJSON {
			if err := printJSON(stdout, r); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(stdout, "%s  %s  %-8s %8s  %-14s %2d turns  %s\n", r.Call,
			r.Began.In(now.Location()).Format(time.DateTime), r.Endpoint, r.Duration.Round(100*time.Millisecond), r.Reason,
			len(r.Turns)+r.TurnsLeftOut,
			strings.TrimSpace(r.From+"  "+r.Client))
	}
	return err
}

// takes reports whether a filter takes a call, apart from its time.
func (f *callFilter) takes(r *callRecord) bool {
	return strings.Contains(r.From, f.from) && strings.Contains(r.To, f.to) &&
		(f.endpoint == "" || f.endpoint == r.Endpoint) && (f.reason == "" || f.reason == r.Reason) &&
		(f.client == "" || f.client == r.Client) && r.Duration >= f.shortest
}

// recordLineMax is the longest line of a file of records.
const recordLineMax = 4 << 20

// eachRecord calls do with each record of the files of records.dir, and returns how many lines are none. It goes on
// behind a file that cannot be read; the error names all of them.
func eachRecord(s *settings.Settings, do func(*callRecord)) (damaged int, err error) {
	if s.Records.Dir == "" {
		return 0, usagef("it needs records.dir, the directory of records (--records-dir)")
	}
	entries, err := os.ReadDir(s.Records.Dir)
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "calls") && strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, filepath.Join(s.Records.Dir, e.Name()))
		}
	}
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("there are no records in %s; with records.format csv there are none to read", s.Records.Dir)
	}
	if err != nil {
		return 0, &usageError{err}
	}
	var unread []error
	for _, name := range names {
		n, err := recordsOf(name, do)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // serve may have deleted it
			unread = append(unread, fmt.Errorf("%s: %w", name, err))
		}
		damaged += n
	}
	if len(unread) > 0 {
		return damaged, &usageError{errors.Join(unread...)}
	}
	return damaged, nil
}

// recordsOf calls do with each record of a file.
func recordsOf(name string, do func(*callRecord)) (damaged int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	return readRecords(file, do)
}

// readRecords calls do with each record of a file of JSON lines, and returns how many lines are none: torn ones, those
// of something else, and those that are too long.
func readRecords(file io.Reader, do func(*callRecord)) (damaged int, err error) {
	err = eachLine(file, func(line []byte) {
		r := &callRecord{}
		if json.Unmarshal(line, r) != nil || r.Call == "" {
			damaged++
			return
		}
		do(r)
	})
	return damaged, err
}

// eachLine calls do with each line, which is nil if it is longer than recordLineMax.
func eachLine(from io.Reader, do func(line []byte)) error {
	lines := bufio.NewReaderSize(from, 64<<10)
	var line []byte
	for long := false; ; {
		part, err := lines.ReadSlice('\n')
		if long = long || len(line)+len(part) > recordLineMax; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			do(nil)
		case len(line) > 0:
			do(line)
		}
		if line, long = line[:0], false; err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
}

// recorded is what is kept of one call.
type recorded struct {
	record  *callRecord // nil if no record was kept
	archive string      // its path, or "" if no archive was kept
}

// findCall finds what is kept of a call.
func findCall(s *settings.Settings, id string) (c recorded, err error) {
	if id != filepath.Base(id) || !strings.HasPrefix(id, "c-") {
		return c, usagef("%q is not the id of a call, such as c-2120d6a20d2d", id)
	}
	if s.Records.Dir == "" && s.Archive == "" {
		return c, usagef("it needs records.dir (--records-dir) or archive (--archive), where the call is kept")
	}
	if s.Records.Dir != "" {
		if _, err := eachRecord(s, func(r *callRecord) {
			if r.Call == id {
				c.record = r
			}
		}); err != nil && s.Archive == "" {
			return c, err
		}
	}
	if s.Archive != "" {
		path := filepath.Join(s.Archive, id+settings.ArchiveEnding)
		if _, err := os.Stat(path); err == nil {
			c.archive = path
		}
	}
	if c.record == nil && c.archive == "" {
		return c, answerf(exitFailed, "nothing is kept of call %s", id)
	}
	return c, nil
}

func oneCall(args []string) error {
	if len(args) != 1 {
		return usagef("it takes the id of one call, such as c-2120d6a20d2d")
	}
	return nil
}

func showCallCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "show ID", Short: "describe a call turn by turn",
		Args: func(_ *cobra.Command, args []string) error { return oneCall(args) }}
	read := callSettings(cmd)
	outputFlag(cmd, &asJSON, "the record and the story")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := read()
		if err != nil {
			return err
		}
		c, err := findCall(s, args[0])
		if err != nil {
			return err
		}
		story, err := c.story()
		story = c.named(story)
		if asJSON && err == nil {
			return printJSON(cmd.OutOrStdout(), struct {
				Record *callRecord  `json:"record"`
				Story  []storyEvent `json:"story"`
			}{c.record, story})
		}
		tellRecord(cmd.OutOrStdout(), c.record)
		tellStory(cmd.OutOrStdout(), story)
		return err
	}
	return cmd
}

func exportCallCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{Use: "export ID", Short: "make a file for a bug report, without speech, text, numbers or names",
		Args: func(_ *cobra.Command, args []string) error { return oneCall(args) }}
	read := callSettings(cmd)
	cmd.Flags().StringVar(&out, "out", "", "the file; ID.zip by default")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := read()
		if err != nil {
			return err
		}
		c, err := findCall(s, args[0])
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := c.export(&b); err != nil {
			return err
		}
		if out == "" {
			out = args[0] + ".zip"
		}
		file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return usagef("--out: %w", err)
		}
		_, err = file.Write(b.Bytes())
		if err = errors.Join(err, file.Close()); err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%s has %d bytes: lengths, times and names of transitions; no speech, no text, "+
				"no number, no name\n", out, b.Len())
		}
		return err
	}
	return cmd
}

// exportedRecord is what a bug report gets of a record: nothing that a caller or a model chose.
type exportedRecord struct {
	Call, Endpoint, Reason                                          string
	Seconds                                                         float64
	Replies, Interrupted, FalseInterruptions, Unanswered, LinksLost int
	HeardMS                                                         int
	ArchiveLost                                                     bool
	Turns                                                           []turnRecord
	TurnsLeftOut                                                    int
}

// export writes a zip file with the version, the record, the archive and the story.
func (c *recorded) export(w io.Writer) error {
	z := zip.NewWriter(w)
	put := func(name string, b []byte) error {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write(b)
		}
		return err
	}
	errs := []error{put("version.txt", []byte(versionLine()+"\n"))}
	if r := c.record; r != nil {
		e := exportedRecord{Call: r.Call, Endpoint: r.Endpoint, Reason: r.Reason, Seconds: r.Duration.Seconds(),
			Replies: r.Replies, Interrupted: r.Interrupted, FalseInterruptions: r.FalseInterruptions,
			Unanswered: r.Unanswered, LinksLost: r.LinksLost, HeardMS: r.HeardMS, ArchiveLost: r.ArchiveLost,
			TurnsLeftOut: r.TurnsLeftOut}
		for _, t := range r.Turns {
			t.Text = ""
			for i := range t.Tools {
				t.Tools[i].Name = "a function"
			}
			e.Turns = append(e.Turns, t)
		}
		b, err := json.MarshalIndent(e, "", " ")
		errs = append(errs, err, put("record.json", b))
	}
	if c.archive != "" {
		archive, err := cleanArchive(c.archive)
		story, serr := c.story()
		var text bytes.Buffer
		tellStory(&text, story)
		if serr != nil {
			fmt.Fprintln(&text, "the archive ends here, or is damaged from here on")
		}
		errs = append(errs, err, put("archive"+settings.ArchiveEnding, archive), put("story.txt", text.Bytes()))
	}
	return errors.Join(append(errs, z.Close())...)
}
