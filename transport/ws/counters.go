package ws

import (
	"sync/atomic"
	"time"
)

// Counters is a snapshot of what went over one connection.
type Counters struct {
	AudioIn, AudioOut     uint64 // audio messages
	SamplesIn, SamplesOut uint64
	EventsIn, EventsOut   uint64 // text messages
	UnknownIn             uint64 // of EventsIn: of a type this version does not know, ignored
	BytesIn, BytesOut     uint64 // of messages, without framing
	PingRTT               time.Duration
}

// counters are what a Counters is read from.
type counters struct {
	audioIn, audioOut     atomic.Uint64
	samplesIn, samplesOut atomic.Uint64
	eventsIn, eventsOut   atomic.Uint64
	unknownIn             atomic.Uint64
	bytesIn, bytesOut     atomic.Uint64
	pingRTT               atomic.Int64
}

func (c *counters) snapshot() Counters {
	return Counters{
		AudioIn: c.audioIn.Load(), AudioOut: c.audioOut.Load(),
		SamplesIn: c.samplesIn.Load(), SamplesOut: c.samplesOut.Load(),
		EventsIn: c.eventsIn.Load(), EventsOut: c.eventsOut.Load(),
		UnknownIn: c.unknownIn.Load(),
		BytesIn:   c.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		PingRTT: time.Duration(c.pingRTT.Load()),
	}
}
