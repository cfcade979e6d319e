package jetstream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/voicegw/voicegw/journal"
)

// A message of a log is a batch of records:
//
//	"vgj" version(1) kind(1) writer epoch first count { length data }... crc32c(4, little endian)
//
// Numbers without a size are unsigned varints. The claim of an owner is one record with its name. The writer
// is a random number, by which a writer knows its own messages from those of another with the same name.
const (
	batchMagic   = "vgj"
	batchVersion = 1
	// headerMax is more than a batch adds to its first record, in bytes.
	headerMax = 4096
)

// batch is a message of a log.
type batch struct {
	kind    journal.Kind
	writer  uint64
	epoch   uint64
	first   uint64
	records [][]byte
}

// last is the number of the last record.
func (b *batch) last() uint64 { return b.first + uint64(len(b.records)) - 1 }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (b *batch) encode() []byte {
	n := headerMax
	for _, r := range b.records {
		n += len(r) + binary.MaxVarintLen32
	}
	out := append(make([]byte, 0, n), batchMagic...)
	out = append(out, batchVersion, byte(b.kind))
	for _, v := range []uint64{b.writer, b.epoch, b.first, uint64(len(b.records))} {
		out = binary.AppendUvarint(out, v)
	}
	for _, r := range b.records {
		out = binary.AppendUvarint(out, uint64(len(r)))
		out = append(out, r...)
	}
	return binary.LittleEndian.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

var errTorn = errors.New("the message is torn or damaged")

// decodeBatch reads a message. Its records share memory with it.
func decodeBatch(msg []byte) (*batch, error) {
	const fixed = len(batchMagic) + 2
	switch {
	case len(msg) < fixed+4 || string(msg[:len(batchMagic)]) != batchMagic:
		return nil, errors.New("the message is none of voicegw")
	case msg[3] != batchVersion:
		return nil, fmt.Errorf("the message has version %d; this program reads version %d: use a newer voicegw", msg[3],
			batchVersion)
	}
	body := msg[:len(msg)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(msg[len(body):]) {
		return nil, errTorn
	}
	b := &batch{kind: journal.Kind(msg[4])}
	rest := body[fixed:]
	number := func() (v uint64) {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			rest = nil
			return 0
		}
		rest = rest[n:]
		return v
	}
	b.writer, b.epoch, b.first = number(), number(), number()
	count := number()
	if b.kind > journal.Archived || b.epoch == 0 || b.first == 0 || count == 0 || count > journal.WindowRecords {
		return nil, errTorn
	}
	for range count {
		n := number()
		if rest == nil || n > uint64(len(rest)) {
			return nil, errTorn
		}
		b.records = append(b.records, rest[:n:n])
		rest = rest[n:]
	}
	if len(rest) != 0 {
		return nil, errTorn
	}
	return b, nil
}

// yield gives the records from a number on to a reader. It reports whether the reader wants more.
func (b *batch) yield(from uint64, to func(journal.Record, error) bool) bool {
	for i, data := range b.records {
		r := journal.Record{Seq: b.first + uint64(i), Epoch: b.epoch, Kind: b.kind}
		switch {
		case r.Seq < from:
			continue
		case b.kind == journal.Claim:
			r.Owner = string(data)
		case b.kind == journal.Data:
			r.Data = data
		}
		if !to(r, nil) {
			return false
		}
	}
	return true
}
