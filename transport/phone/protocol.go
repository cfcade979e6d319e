package phone

import (
	"github.com/voicegw/voicegw/transport"
)

// Protocol is how a carrier says things. A Peer owns it: its one reader calls Take, whoever writes the others, one at a
// time. The Append methods append one message to dst, text but for audio where the Line says otherwise.
type Protocol interface {
	// Take reads one message, valid until it returns, and tells in what it means. An error that is a *transport.Ended
	// ends the call; any other is a fault, which is counted and survived.
	Take(b []byte, text bool, in *Inlet) error
	AppendAudio(dst []byte, pcm []int16) []byte
	AppendMark(dst, name []byte) []byte
	AppendClear(dst []byte) []byte
	// AppendBye appends what is said before the connection is closed, nothing where closing says it all. It may be
	// called beside the others.
	AppendBye(dst []byte) []byte
}

// Inlet takes what a Protocol has read. Only Take uses it.
type Inlet struct{ p *Peer }

// Audio hands on what the caller said, at the line's input rate. It copies pcm.
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

// Mark says that a mark came back.
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

// Digit says that the caller pressed a key: 0-9, *, #, A-D. Anything else is a fault.
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

// Bye says that the caller hung up, or that the carrier took the call back.
func (in *Inlet) Bye() {
	if ev := in.p.slot(); ev != nil {
		ev.Kind = transport.EventBye
		in.p.inbox <- ev
	}
}

// Flow stops the audio that goes to the far end, whose queue is full, and lets it go on. While it is stopped SendAudio
// waits, at most WriteTimeout.
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

// Count counts something odd that is survived: n times fault.
func (in *Inlet) Count(fault Fault, n int) { in.p.counters.faults[fault].Add(uint64(n)) }
