package rtc

// digits are the events 0 to 15 of RFC 4733 section 3.2.
const digits = "0123456789*#ABCD"

// rememberedKeys is how many keys are remembered, because the last packet of a key is sent three
// times and may be late.
const rememberedKeys = 8

// keys detects telephone keys in RTP events (RFC 4733): a key is many packets with one timestamp.
// The zero value is ready.
type keys struct {
	seen [rememberedKeys]uint32
	n    int
}

// press takes a packet's payload and timestamp. It returns the digit for the first packet of a key.
func (k *keys) press(timestamp uint32, payload []byte) (digit string, ok bool) {
	if len(payload) < 4 || int(payload[0]) >= len(digits) {
		return "", false
	}
	for _, t := range k.seen[:min(k.n, rememberedKeys)] {
		if t == timestamp {
			return "", false
		}
	}
	k.seen[k.n%rememberedKeys] = timestamp
	k.n++
	return digits[payload[0] : payload[0]+1], true
}
