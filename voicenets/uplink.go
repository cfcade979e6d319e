package voicenets

import "github.com/voicegw/voicegw/petri"

// uplinkNet is the only way of a caller's frame to the model. In manual mode
// frames wait at CallerAudio, the oldest falling out: a short pre-roll while
// the caller is quiet, and up to HeldFramesMax while speech waits for a
// decision. When the turn is open they go up, and the turn keeps them. While
// the connection is being replaced the turn alone keeps them. In server mode
// every frame goes up as it comes; frames without a connection are kept in
// backlog, the oldest falling out, for the next one.
func uplinkNet(c Config) *petri.Net {
	n := &petri.Net{
		Name:  "uplink",
		Ports: []petri.AnyPlace{CallerAudio, AudioUp, deaf, online, replying},
		Env:   []petri.Env{{Place: CallerAudio, Capacity: HeldFramesMax, Policy: petri.DropOldest}},
		Out:   []petri.Output{{Place: AudioUp}},
		Caps:  caps(1, deaf),
		Transitions: []petri.Transition{
			{Name: "drop_unheard_frame", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{deaf}},
		},
	}
	send := petri.Transition{Name: "send_frame_up", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{online},
		Inhibit: petri.Arcs{deaf}, Out: petri.And(AudioUp)}
	if c.manual() {
		send.Read = append(send.Read, inTurn)
		send.Action = func(f *petri.Firing) {
			frame := CallerAudio.Get(f)
			inTurn.Get(f).add(frame)
			AudioUp.Put(f, frame)
		}
		n.Ports = append(n.Ports, inTurn, quiet)
		n.Transitions = append(n.Transitions,
			petri.Transition{Name: "keep_frame", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{inTurn},
				Inhibit: petri.Arcs{deaf, online},
				Action:  func(f *petri.Firing) { inTurn.Get(f).add(CallerAudio.Get(f)) }},
			petri.Transition{Name: "trim_pre_roll", In: petri.Arcs{CallerAudio}, Inhibit: petri.Arcs{deaf, inTurn},
				Read: petri.Arcs{quiet, CallerAudio.AtLeast(c.PreRollFrames + 1)}})
	} else {
		n.Ports = append(n.Ports, backlog)
		n.Init = append(n.Init, backlog.Token(&CallerTurn{}))
		n.Caps = append(n.Caps, caps(1, backlog)...)
		keep := petri.Transition{Name: "keep_frame", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{backlog},
			Inhibit: petri.Arcs{deaf, online},
			Action:  func(f *petri.Firing) { backlog.Get(f).add(CallerAudio.Get(f)) }}
		if c.HalfDuplex {
			keep.Inhibit = append(keep.Inhibit, replying)
		}
		n.Transitions = append(n.Transitions, keep)
	}
	if c.HalfDuplex {
		send.Inhibit = append(send.Inhibit, replying)
		n.Transitions = append(n.Transitions, petri.Transition{Name: "drop_frame_over_reply",
			In: petri.Arcs{CallerAudio}, Read: petri.Arcs{replying}, Inhibit: petri.Arcs{deaf}})
	}
	n.Transitions = append(n.Transitions, send)
	return n
}

// backlog are frames of the caller's in server mode that came while there was no
// connection.
const backlog petri.Place[*CallerTurn] = "backlog"
