package phone

import (
	"bytes"
	"strconv"
	"time"

	"github.com/voicegw/voicegw/audio"
	"github.com/voicegw/voicegw/transport"
)

const (
	markEvery       = 5 // frames: transport.AckMS
	marksMax        = 64
	generationsKept = 4
)

// Playout tracks a far end that has a queue and a playout clock of its own. It sets marks behind
// the sent audio, about every 100 ms, and computes from returned marks how much was played. A
// carrier may also return marks of audio that a clear dropped: Playout recognizes them and counts
// that audio as not played. The zero value is ready. It is not safe for concurrent use.
type Playout struct {
	replies [generationsKept]reply // the current one last; unused ones are zero
	total   int64                  // sent frames of all generations
	unset   int                    // sent frames since the last mark

	marks   [marksMax]mark // a ring, oldest first
	first   uint64         // serial of the oldest; serials are integers from 1
	next    uint64         // serial of the next mark; 0 means 1
	dropped uint64         // the last mark set before the last clear

	last   mark      // the mark that returned last
	lastAt time.Time // when it returned
	burst  uint64    // the first mark set since the far end's queue was empty
}

// reply is a generation with sent audio.
type reply struct {
	begun        bool
	generation   uint64
	sent, played int64 // frames; a clear subtracts from sent what it dropped
}

// mark is a position behind sent audio.
type mark struct {
	serial     uint64
	generation uint64
	frames     int64  // of the generation, in all
	total      int64  // of all generations
	id         string // of a mark that the gateway set
}

// Ack is the meaning of a returned mark: the far end has played PlayedMS of Generation in all, and
// reached the gateway's mark ID, if any.
type Ack struct {
	Generation uint64
	PlayedMS   int64
	ID         string
}

// Start begins a generation: later audio belongs to it. The fifth oldest is forgotten.
func (p *Playout) Start(generation uint64) {
	if p.find(generation) == nil {
		copy(p.replies[:], p.replies[1:])
		p.replies[generationsKept-1] = reply{begun: true, generation: generation}
	}
}

// Sent notes a frame of the generation that started last, sent now. It reports whether a mark is
// due behind it.
func (p *Playout) Sent(now time.Time) (markDue bool) {
	if p.next == 0 {
		p.next, p.first, p.burst = 1, 1, 1
	}
	dry := p.dry(now)
	if dry {
		p.burst = p.next
	}
	p.current().sent++
	p.total++
	p.unset++
	return dry || p.unset >= markEvery
}

func (p *Playout) current() *reply { return &p.replies[generationsKept-1] }

// dry reports whether the far end must have played everything.
func (p *Playout) dry(now time.Time) bool { return p.reached(now) >= p.total }

// reached estimates how many frames in all the far end has played by now: the last mark, plus the
// time since then. The estimate exceeds the true value by no more than the network jitter of the
// marks.
func (p *Playout) reached(now time.Time) int64 {
	if p.last.serial < p.burst {
		return p.last.total // no mark of this burst has returned yet
	}
	return min(p.total, p.last.total+int64(now.Sub(p.lastAt)/audio.FrameDuration))
}

// AppendMark sets a mark behind all sent audio, and appends its name to dst. A non-empty id is the
// gateway's mark. The name g7:1340:55 is the 55th mark, behind 1,340 ms of generation 7. At most 64
// marks are open; one more forgets the oldest.
func (p *Playout) AppendMark(dst []byte, id string) []byte {
	if p.next == 0 {
		p.next, p.first, p.burst = 1, 1, 1
	}
	if p.next-p.first == marksMax {
		p.first++
	}
	r := p.current()
	m := mark{serial: p.next, generation: r.generation, frames: r.sent, total: p.total, id: id}
	p.marks[m.serial%marksMax] = m
	p.next++
	p.unset = 0
	return m.appendName(dst)
}

func (m *mark) appendName(dst []byte) []byte {
	dst = append(dst, 'g')
	dst = strconv.AppendUint(dst, m.generation, 10)
	dst = append(dst, ':')
	dst = strconv.AppendInt(dst, m.frames*transport.FrameMS, 10)
	dst = append(dst, ':')
	return strconv.AppendUint(dst, m.serial, 10)
}

// Returned reads the name of a mark that returned now and appends its meaning to acks, oldest
// first. The marks before it count as reached too. It reports false for a name that is not an open
// mark: foreign, repeated, or of dropped audio.
func (p *Playout) Returned(acks []Ack, name []byte, now time.Time) ([]Ack, bool) {
	m := p.open(name)
	if m == nil {
		return acks, false
	}
	for ; p.first <= m.serial; p.first++ {
		at := &p.marks[p.first%marksMax]
		last := p.first == m.serial || p.marks[(p.first+1)%marksMax].generation != at.generation
		if last || at.id != "" {
			acks = p.hear(acks, at)
		}
	}
	p.last, p.lastAt = *m, now
	return acks, true
}

// hear counts the audio before a mark as played.
func (p *Playout) hear(acks []Ack, m *mark) []Ack {
	frames := m.frames
	if r := p.find(m.generation); r != nil {
		r.played = max(r.played, min(frames, r.sent))
		frames = r.played
	}
	return append(acks, Ack{Generation: m.generation, PlayedMS: frames * transport.FrameMS, ID: m.id})
}

// open finds the open mark of this name.
func (p *Playout) open(name []byte) *mark {
	serial, err := strconv.ParseUint(string(name[bytes.LastIndexByte(name, ':')+1:]), 10, 64)
	if err != nil || serial < p.first || serial >= p.next {
		return nil
	}
	m := &p.marks[serial%marksMax]
	var room [64]byte
	if !bytes.Equal(m.appendName(room[:0]), name) {
		return nil
	}
	return m
}

// Clear notes that the gateway now orders the far end to drop what it has not played. It returns
// how many milliseconds of the generation were played, in whole frames: the answer to the gateway's
// clear. The answer leaves out what the far end played while the last mark and the clear were on
// their way, so a reply that goes on repeats a little and loses nothing. Clear drops the marks set
// before.
func (p *Playout) Clear(generation uint64, now time.Time) (playedMS int64) {
	r := p.find(generation)
	if r != nil && p.last.generation == generation && p.last.serial >= p.burst {
		since := p.reached(now) - p.last.total
		r.played = max(r.played, min(r.sent, p.last.frames+since))
	}
	p.forget()
	if r == nil {
		return 0
	}
	return r.played * transport.FrameMS
}

// forget subtracts from sent everything that was not played.
func (p *Playout) forget() {
	for i := range p.replies {
		p.replies[i].sent = p.replies[i].played
	}
	if p.next > 0 {
		p.dropped, p.first, p.burst = p.next-1, p.next, p.next
	}
	p.total, p.last.total, p.unset = 0, 0, 0
}

// Dropped reports whether a name, well formed or not, is that of a mark dropped by a clear.
func (p *Playout) Dropped(name []byte) bool {
	serial, err := strconv.ParseUint(string(name[bytes.LastIndexByte(name, ':')+1:]), 10, 64)
	return err == nil && serial > 0 && serial <= p.dropped
}

func (p *Playout) find(generation uint64) *reply {
	for i := range p.replies {
		if r := &p.replies[i]; r.begun && r.generation == generation {
			return r
		}
	}
	return nil
}
