package phone

import (
	"github.com/voicegw/voicegw/transport"
)

// Protocol is the wire format of a carrier. A Peer owns it: its reader calls Take; the writers call
// the other methods, one at a time. Each Append method appends one message to dst: text, except for
// audio when the Line sets BinaryAudio.
type Protocol interface {
	// Take reads one message, valid until it returns, and reports its meaning to in. An error that
	// is a *transport.Ended ends the call; any other error is a fault, which is counted and
	// survived.
	Take(b []byte, text bool, in *Inlet) error
	AppendAudio(dst []byte, pcm []int16) []byte
	AppendMark(dst, name []byte) []byte
	AppendClear(dst []byte) []byte
	// AppendBye appends the last message before the connection closes, or nothing where the close
	// itself is enough. It may run concurrently with the others.
	AppendBye(dst []byte) []byte
}

// Inlet takes what a Protocol has read. Only Take may use it.
type Inlet struct{ p *Peer }

// Audio delivers caller audio at the line's input rate. It copies pcm.
func (in *Inlet) Audio(pcm []int16) {
	p := in.p
	most := p.line.Hello.InputRateHz * transport.AudioMSMax / 1000
	for len(pcm) > 0 {
		n := min(len(pcm), most)
		ev := p.slot()
		if ev == nil {
			return
		}
		ev.Kind, ev.PCM = transport.EventAudio, append(ev.PCM, pcm[:n]...)
		p.inbox <- ev
		pcm = pcm[n:]
		p.counters.audioIn.Add(1)
	}
}

// Mark reports a returned mark.
func (in *Inlet) Mark(name []byte) {
	p := in.p
	p.mu.Lock()
	acks, ok := p.playout.Returned(p.acks[:0], name, p.now())
	dropped := !ok && p.playout.Dropped(name)
	p.acks = acks
	p.mu.Unlock()
	switch {
	case dropped:
		p.counters.marksDropped.Add(1)
	case !ok:
		p.counters.marksUnknown.Add(1)
	}
	for i := range acks {
		ev := p.slot()
		if ev == nil {
			return
		}
		ev.Kind, ev.Generation, ev.PlayedMS, ev.Mark = transport.EventAck, acks[i].Generation, acks[i].PlayedMS, acks[i].ID
		p.inbox <- ev
	}
}

// Digit reports a key that the caller pressed: 0-9, *, #, A-D. Anything else is a fault.
func (in *Inlet) Digit(digit string) error {
	if len(digit) != 1 || !isDigit(digit[0]) {
		return errDigit
	}
	if ev := in.p.slot(); ev != nil {
		ev.Kind, ev.Text = transport.EventDTMF, digit
		in.p.inbox <- ev
	}
	return nil
}

func isDigit(c byte) bool {
	return c >= '0' && c <= '9' || c == '*' || c == '#' || c >= 'A' && c <= 'D'
}

// Bye reports that the caller hung up, or that the carrier took the call back.
func (in *Inlet) Bye() {
	if ev := in.p.slot(); ev != nil {
		ev.Kind = transport.EventBye
		in.p.inbox <- ev
	}
}

// Flow stops the audio to a far end whose queue is full, and resumes it. While it is stopped
// SendAudio waits, at most WriteTimeout.
func (in *Inlet) Flow(stop bool) {
	p := in.p
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case stop && p.flows == nil:
		p.flows = make(chan struct{})
	case !stop && p.flows != nil:
		close(p.flows)
		p.flows = nil
	}
}

// Count counts a fault that the call survives, n times.
func (in *Inlet) Count(fault Fault, n int) { in.p.counters.faults[fault].Add(uint64(n)) }
