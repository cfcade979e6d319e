package ws

import (
	"sync/atomic"
	"time"
)

// Counters is a snapshot of the traffic of one connection.
type Counters struct {
	AudioIn, AudioOut     uint64 // audio messages
	SamplesIn, SamplesOut uint64
	EventsIn, EventsOut   uint64 // text messages
	UnknownIn             uint64 // part of EventsIn: events of an unknown type, ignored
	BytesIn, BytesOut     uint64 // of messages, without framing
	PingRTT               time.Duration
}

// counters are the live values behind Counters.
type counters struct {
	audioIn, audioOut     atomic.Uint64
	samplesIn, samplesOut atomic.Uint64
	eventsIn, eventsOut   atomic.Uint64
	unknownIn             atomic.Uint64
}

func (c *counters) snapshot() Counters {
	return Counters{
		AudioIn: c.audioIn.Load(), AudioOut: c.audioOut.Load(),
		SamplesIn: c.samplesIn.Load(), SamplesOut: c.samplesOut.Load(),
		EventsIn: c.eventsIn.Load(), EventsOut: c.eventsOut.Load(),
		UnknownIn: c.unknownIn.Load(),
	}
}
