package jetstream

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"testing"

	"github.com/voicegw/voicegw/journal"
)

func examples() []*batch {
	return []*batch{
		{kind: journal.Claim, writer: 1, epoch: 1, first: 1, records: [][]byte{[]byte("node a")}},
		{kind: journal.Claim, writer: math.MaxUint64, epoch: 2, first: 9, records: [][]byte{nil}},
		{kind: journal.Archived, epoch: 3, first: 1 << 40, records: [][]byte{nil}},
		{kind: journal.Data, writer: 7, epoch: 300, first: 128, records: [][]byte{[]byte("a"), make([]byte, 200)}},
	}
}

func equal(a, b *batch) bool {
	if a.kind != b.kind || a.writer != b.writer || a.epoch != b.epoch || a.first != b.first ||
		len(a.records) != len(b.records) {
		return false
	}
	for i := range a.records {
		if !bytes.Equal(a.records[i], b.records[i]) {
			return false
		}
	}
	return true
}

// TestBatchDamage changes every bit of messages, cuts them everywhere and makes them longer. None is read.
func TestBatchDamage(t *testing.T) {
	for _, b := range examples() {
		msg := b.encode()
		if got, err := decodeBatch(msg); err != nil || !equal(got, b) {
			t.Fatalf("%+v: %+v, %v", b, got, err)
		}
		for i := range len(msg) * 8 {
			damaged := bytes.Clone(msg)
			damaged[i/8] ^= 1 << (i % 8)
			if _, err := decodeBatch(damaged); err == nil {
				t.Errorf("%+v: bit %d changed", b, i)
			}
		}
		for n := range msg {
			if _, err := decodeBatch(msg[:n]); err == nil {
				t.Errorf("%+v: cut to %d bytes", b, n)
			}
		}
		if _, err := decodeBatch(append(msg, 0)); err == nil {
			t.Errorf("%+v: longer", b)
		}
	}
}

// FuzzBatch reads messages with a checksum that is right: whatever they hold, the decoder refuses them, or
// reads what encode writes.
func FuzzBatch(f *testing.F) {
	for _, b := range examples() {
		msg := b.encode()
		f.Add(msg[:len(msg)-4])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		msg := binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.Checksum(body, castagnoli))
		b, err := decodeBatch(msg)
		if err != nil {
			return
		}
		if len(b.records) == 0 || len(b.records) > journal.WindowRecords || b.first < 1 || b.epoch < 1 ||
			b.kind > journal.Archived {
			t.Errorf("read %+v", b)
		}
		again, err := decodeBatch(b.encode())
		if err != nil || !equal(again, b) {
			t.Errorf("%+v becomes %+v, %v", b, again, err)
		}
		next := b.first
		b.yield(b.first, func(r journal.Record, _ error) bool {
			if r.Seq != next || r.Epoch != b.epoch {
				t.Errorf("yields %+v, want number %d", r, next)
			}
			next++
			return true
		})
	})
}
