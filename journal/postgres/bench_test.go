package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/voicegw/voicegw/journal"
)

var benchRecord = make([]byte, 400)

// BenchmarkAppend stores records, each of which is awaited, for one writer and for 64, beside the barest
// statement that stores as much: an INSERT.
func BenchmarkAppend(b *testing.B) {
	e := shared.open(b, "bench")
	cfg, err := pgxpool.ParseConfig(shared.config("").URL)
	if err != nil {
		b.Fatal(err)
	}
	cfg.MaxConns = 16
	cfg.ConnConfig.RuntimeParams["synchronous_commit"] = "on"
	pool, err := pgxpool.NewWithConfig(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer pool.Close()
	_, err = pool.Exec(b.Context(), `CREATE TABLE IF NOT EXISTS raw (id bigserial PRIMARY KEY, data bytea)`)
	if err != nil {
		b.Fatal(err)
	}
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprint("journal/", writers), func(b *testing.B) {
			logs := make([]journal.Writer, writers)
			for g := range logs {
				if logs[g], err = e.Open(b.Context(), fmt.Sprint("append/", writers, "/", g), "bench"); err != nil {
					b.Fatal(err)
				}
			}
			spread(b, writers, func(g int) error {
				seq, err := logs[g].Append(benchRecord)
				if err == nil {
					err = logs[g].Await(b.Context(), seq)
				}
				return err
			})
		})
		b.Run(fmt.Sprint("insert/", writers), func(b *testing.B) {
			spread(b, writers, func(int) error {
				_, err := pool.Exec(b.Context(), `INSERT INTO raw (data) VALUES ($1)`, benchRecord)
				return err
			})
		})
	}
}

// spread divides b.N calls among writers.
func spread(b *testing.B, writers int, call func(g int) error) {
	b.Helper()
	b.ResetTimer()
	var work sync.WaitGroup
	for g := range writers {
		work.Go(func() {
			for i := g; i < b.N; i += writers {
				if err := call(g); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkRead reads a log of 10,000 records.
func BenchmarkRead(b *testing.B) {
	e := shared.open(b, "bench")
	w, err := e.Open(b.Context(), "read", "bench")
	for i := 0; i < 10_000 && err == nil; i++ {
		var seq uint64
		if seq, err = w.Append(benchRecord); err == nil && i%100 == 0 {
			err = w.Await(b.Context(), seq)
		}
	}
	if err == nil {
		err = w.Close(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	records := 0
	for range b.N {
		for _, err := range e.Read(b.Context(), "read", 1, false) {
			if err != nil {
				b.Fatal(err)
			}
			records++
		}
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}
