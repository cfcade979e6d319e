package voicenets

import "github.com/voicegw/voicegw/petri"

// uplinkNet sends the caller's frames to the model. No other subnet does, except that linkNet
// repeats turns. With gateway VAD frames wait at CallerAudio: PreRollFrames while the caller is
// quiet, and up to HeldFramesMax while speech waits for a decision. Beyond the limit the oldest is
// dropped. When the turn is open, frames go up and the turn keeps them too. While the connection is
// being replaced, only the turn keeps them. With model VAD every frame goes up as it comes. Frames
// that come without a connection wait in Backlog for the next one, at most TurnFramesMax; beyond it
// the oldest is dropped.
func uplinkNet(c Config) *petri.Net {
	n := &petri.Net{
		Name:  "uplink",
		Ports: []petri.AnyPlace{CallerAudio, AudioUp, InputClosed, Online, Replying},
		Env:   []petri.Env{{Place: CallerAudio, Capacity: HeldFramesMax, Policy: petri.DropOldest}},
		Out:   []petri.Output{{Place: AudioUp}},
		Caps:  caps(1, InputClosed),
		Transitions: []petri.Transition{
			{Name: "drop_frame_input_closed", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{InputClosed}},
		},
	}
	send := petri.Transition{Name: "send_frame_up", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{Online},
		Inhibit: petri.Arcs{InputClosed}, Out: petri.And(AudioUp)}
	if c.gatewayVAD() {
		send.Read = append(send.Read, InTurn)
		send.Action = func(f *petri.Firing) {
			frame := CallerAudio.Get(f)
			InTurn.Get(f).add(frame)
			AudioUp.Put(f, frame)
		}
		n.Ports = append(n.Ports, InTurn, Quiet)
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "keep_frame", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{InTurn},
				Inhibit: petri.Arcs{InputClosed, Online},
				Action:  func(f *petri.Firing) { InTurn.Get(f).add(CallerAudio.Get(f)) }},
			petri.Transition{Name: "trim_pre_roll", In: petri.Arcs{CallerAudio}, Inhibit: petri.Arcs{InputClosed, InTurn},
				Read: petri.Arcs{Quiet, CallerAudio.AtLeast(c.PreRollFrames + 1)}})
	} else {
		n.Ports = append(n.Ports, Backlog)
		n.Init = append(n.Init, Backlog.Token(&CallerTurn{}))
		n.Caps = append(n.Caps, caps(1, Backlog)...)
		keep := petri.Transition{Name: "keep_frame", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{Backlog},
			Inhibit: petri.Arcs{InputClosed, Online},
			Action:  func(f *petri.Firing) { Backlog.Get(f).add(CallerAudio.Get(f)) }}
		if c.HalfDuplex {
			keep.Inhibit = append(keep.Inhibit, Replying)
		}
		n.Transitions = append(n.Transitions, keep)
	}
	if c.HalfDuplex {
		send.Inhibit = append(send.Inhibit, Replying)
		n.Transitions = append(n.Transitions, petri.Transition{Name: "drop_frame_over_reply",
			In: petri.Arcs{CallerAudio}, Read: petri.Arcs{Replying}, Inhibit: petri.Arcs{InputClosed}})
	}
	n.Transitions = append(n.Transitions, send)
	return n
}

// Backlog holds the caller's frames that came while there was no connection. Only sessions with
// model VAD have it.
const Backlog petri.Place[*CallerTurn] = "backlog"
