package settings

import "time"

// Records says what is kept of calls that have ended, besides their archives, and how much of both.
type Records struct {
	Dir         string // "": no records are written
	JSON, CSV   bool   // the formats
	FileBytes   int64  // a file that would grow beyond is rotated
	Files       int    // rotated files of each format
	Transcripts bool   // records hold what was said

	Archives ArchiveLimits
}

// ArchiveLimits say when archives are deleted, the oldest first. 0 is no limit.
type ArchiveLimits struct {
	Bytes int64
	Files int
	Age   time.Duration
}

// recordRows are the settings of what is kept of calls.
func (s *Settings) recordRows() []Row {
	const day = 24 * time.Hour
	r, a := &s.Records, &s.Records.Archives
	archives := []Row{
		numberRow("archive_max_bytes", &a.Bytes, 0, 1<<20, 1<<50,
			"bytes of archives, beyond which the oldest are deleted; 0: no limit").orZero("0"),
		numberRow("archive_max_files", &a.Files, 0, 1, 10_000_000,
			"archives, beyond which the oldest are deleted; 0: no limit").orZero("0"),
		timeRow("archive_max_age", &a.Age, 0, time.Hour, 3650*day, "the age at which archives are deleted; 0s: never"),
	}
	archives[2].Want = "0s, or a length of time from 1h to 87600h, such as 720h"
	for i := range archives {
		archives[i] = archives[i].onlyIf(func() bool { return s.Archive != "" }, "there is no archive")
	}
	records := []Row{
		wordRow("records.format", "jsonl", "JSON lines, CSV, or a file of each", []string{"jsonl", "csv", "both"},
			func(i int) { r.JSON, r.CSV = i != 1, i != 0 }),
		numberRow("records.file_bytes", &r.FileBytes, 64<<20, 1<<12, 1<<40,
			"a file of records that would grow beyond this many bytes is renamed, and a new one begins"),
		numberRow("records.files", &r.Files, 100, 1, 100_000,
			"renamed files of each format that are kept; the oldest beyond are deleted"),
		onRow("records.transcripts", &r.Transcripts, "records in JSON lines hold what was said"),
	}
	for i := range records {
		records[i] = records[i].onlyIf(func() bool { return r.Dir != "" }, "there is no records.dir")
	}
	return append(append(archives, directoryRow("records.dir", &r.Dir, "none", newDirectory,
		"where to write a record of each call that has ended (see docs/records.md)")), records...)
}
