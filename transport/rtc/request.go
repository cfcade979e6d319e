package rtc

import (
	"math/bits"
	"time"

	"github.com/pion/rtcp"
)

// askAgainAfter is how long a missing packet may take before it is asked for a second time, the last.
const askAgainAfter = 20 * time.Millisecond

// requester asks the far end for missing packets (RFC 4585 section 6.2.1): when a packet behind them
// comes, and once more later. It asks when packets come, so a call has no timer for it.
type requester struct {
	send func(*rtcp.TransportLayerNack) // nil: the far end keeps no packets

	asked bool // there was a request
	until uint16
	at    time.Time // of the last request for packets before until
	again bool      // it was the second one
}

// ask asks for the packets in missing: bit i is the one with the number next+i. ssrc is their sender.
func (r *requester) ask(ssrc uint32, next, missing uint16, now time.Time) {
	if r.send == nil || missing == 0 {
		return
	}
	end := next + uint16(bits.Len16(missing))
	fresh := missing
	if known := int(int16(r.until - next)); r.asked && known > 0 && known <= aheadMax {
		fresh = missing >> known << known
	}
	switch {
	case fresh != 0:
		missing, r.until, r.again = fresh, end, false
	case r.again || now.Sub(r.at) < askAgainAfter:
		return
	default:
		r.again = true
	}
	r.asked, r.at = true, now
	first := bits.TrailingZeros16(missing)
	r.send(&rtcp.TransportLayerNack{SenderSSRC: 1, MediaSSRC: ssrc, Nacks: []rtcp.NackPair{{
		PacketID: next + uint16(first), LostPackets: rtcp.PacketBitmap(missing >> first >> 1)}}})
}
