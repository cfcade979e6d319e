package voicenets

import "github.com/voicegw/voicegw/petri"

// uplinkNet is the only way of a caller's frame to the model. In manual mode
// frames wait at CallerAudio, the oldest falling out: a short pre-roll while
// the caller is quiet, and up to HeldFramesMax while speech waits for a
// decision. When the turn is open they go up. In server mode every frame does.
func uplinkNet(c Config) *petri.Net {
	n := &petri.Net{
		Name:  "uplink",
		Ports: []petri.AnyPlace{CallerAudio, AudioUp, PeerMute, muted},
		Env: []petri.Env{
			{Place: CallerAudio, Capacity: HeldFramesMax, Policy: petri.DropOldest},
			{Place: PeerMute},
		},
		Out:  []petri.Output{{Place: AudioUp}},
		Caps: caps(1, muted),
		Transitions: []petri.Transition{
			{Name: "mute", In: petri.Arcs{PeerMute.Is(On)}, Reset: petri.Arcs{CallerAudio, muted}, Out: petri.And(muted)},
			{Name: "unmute", In: petri.Arcs{PeerMute.Is(Off)}, Reset: petri.Arcs{muted}},
			{Name: "drop_muted_frame", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{muted}},
		},
	}
	send := petri.Transition{Name: "send_frame_up", In: petri.Arcs{CallerAudio}, Inhibit: petri.Arcs{muted},
		Out: petri.And(AudioUp)}
	if c.Detection == Server {
		n.Transitions = append(n.Transitions, send)
		if c.HalfDuplex {
			n.Transitions[len(n.Transitions)-1].Inhibit = petri.Arcs{muted, replying}
			n.Transitions = append(n.Transitions, deafen())
			n.Ports = append(n.Ports, replying)
		}
		return n
	}
	send.Read = petri.Arcs{inTurn}
	n.Ports = append(n.Ports, inTurn, quiet)
	n.Transitions = append(n.Transitions, send, petri.Transition{
		Name: "trim_pre_roll", In: petri.Arcs{CallerAudio}, Inhibit: petri.Arcs{muted, inTurn},
		Read: petri.Arcs{quiet, CallerAudio.AtLeast(c.PreRollFrames + 1)},
	})
	if c.HalfDuplex {
		n.Transitions = append(n.Transitions, deafen())
		n.Ports = append(n.Ports, replying)
	}
	return n
}

// deafen drops what is heard while a reply is playing.
func deafen() petri.Transition {
	return petri.Transition{Name: "drop_frame_over_reply", In: petri.Arcs{CallerAudio}, Read: petri.Arcs{replying},
		Inhibit: petri.Arcs{muted}}
}
