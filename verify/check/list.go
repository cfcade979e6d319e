package check

import (
	"encoding/binary"
	"sync"

	"github.com/voicegw/voicegw/petri"
)

// listing is a class of the list: its marking, as the list writes it, and the zone of the enabled
// clocks whose interval is not [0,inf).
type listing struct {
	key  string
	zone []int64
	more int32 // another listing with the same marking; -1
}

// read reads the list.
func (k *checker) read() error {
	switch {
	case k.cert.Method != "markings" && k.cert.Method != "classes":
		return refusal("its method %q is unknown", k.cert.Method)
	case k.cert.Count < 1 || k.cert.Count > classesMax:
		return refusal("it lists %d classes", k.cert.Count)
	case k.cert.raw != nil:
		return k.readList(string(k.cert.raw), nil)
	}
	markings, err := inflate(k.cert.Markings, k.cert.Count*k.slots)
	if err != nil {
		return err
	}
	var zones []byte
	if k.cert.Method == "classes" {
		if err := k.countable(); err != nil {
			return err
		}
		if zones, err = inflate(k.cert.Zones, k.cert.Count); err != nil {
			return err
		}
	} else if markings = rowsOf(markings, k.slots, min(k.cert.Count, len(markings))); markings == nil {
		return refusal("the list of markings is damaged")
	}
	return k.readList(string(markings), zones)
}

// readList reads the inflated list.
func (k *checker) readList(markings string, zones []byte) error {
	marking := make([]int32, k.slots)
	count := min(k.cert.Count, len(markings)) // a bound that a damaged count cannot exceed
	k.listed, k.list = make(map[string]int32, count), make([]listing, 0, count)
	for i := range k.cert.Count {
		n := unpack(markings, marking)
		if n < 0 {
			return refusal("the list of markings is damaged, or counts more than %d tokens", petri.MaxTokens)
		}
		l := listing{key: markings[:n], more: -1}
		markings = markings[n:]
		if k.cert.Method == "classes" {
			d := len(k.rows(marking)) + 1
			for range d * d {
				v, n := binary.Varint(zones)
				if n <= 0 {
					return refusal("the list of zones is damaged")
				}
				zones, l.zone = zones[n:], append(l.zone, v)
			}
			if err := inRange(l.zone, d); err != nil {
				return err
			}
		}
		if other, ok := k.listed[l.key]; ok {
			l.more = other
		}
		k.listed[l.key] = int32(i)
		k.list = append(k.list, l)
	}
	if len(markings)+len(zones) > 0 {
		return refusal("its lists are longer than its count")
	}
	k.narrow()
	return nil
}

// unpack reads a marking as ListMarkings takes it: variable-length integers, none above
// petri.MaxTokens. It returns the number of bytes read, or -1 if there is no marking.
func unpack(list string, marking []int32) int {
	at := 0
	for s := range marking {
		n, shift := uint64(0), 0
		for more := true; more; shift += 7 {
			if at == len(list) || shift > 28 {
				return -1
			}
			n |= uint64(list[at]&0x7f) << shift
			more = list[at] >= 0x80
			at++
		}
		if n > petri.MaxTokens {
			return -1
		}
		marking[s] = int32(n)
	}
	return at
}

// pack turns a marking, in the same format, and clocks into bytes that k owns until the next call.
func (k *checker) pack(marking []int32, run []bool) []byte {
	key := k.key[:0]
	for _, n := range marking {
		if n < 0x80 {
			key = append(key, byte(n))
		} else {
			key = binary.AppendUvarint(key, uint64(n))
		}
	}
	for _, on := range run {
		if on {
			key = append(key, 1)
		} else {
			key = append(key, 0)
		}
	}
	k.key = key
	return key
}

// waiting reports the kinds of frame that wait in some listed marking.
func (k *checker) waiting() func(slot int32) bool {
	look := sync.OnceValue(func() map[int32]bool {
		rests, marking := map[int32]bool{}, make([]int32, k.slots)
		for i := range k.list {
			unpack(k.list[i].key, marking)
			k.m.Rests(marking, func(slot int32) { rests[slot] = true })
		}
		return rests
	})
	return func(slot int32) bool { return look()[slot] }
}
