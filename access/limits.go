package access

import (
	"fmt"
	"time"
)

// Limits are how much one address, tenant or subject may do. Zero means without a limit.
type Limits struct {
	Calls          int   // at one time; at most 10,000
	CallsPerMinute int   // as many at once, then one each minute/CallsPerMinute; at most 6,000
	BytesPerMinute int64 // of what Grant.Spend is told; as many at once, then evenly; 60 to 1 TiB
}

// Limits of Limits.
const (
	callsMax          = 10_000
	callsPerMinuteMax = 6_000
	bytesPerMinuteMin = byteParts
	bytesPerMinuteMax = 1 << 40
)

// byteParts is how many tokens stand for BytesPerMinute: one is given back each second.
const byteParts = 60

// check returns an error for a field that is out of range; of names whose limits they are.
func (l Limits) check(of string) error {
	switch {
	case l.Calls < 0 || l.Calls > callsMax:
		return fmt.Errorf("access: check limits of %s: %d calls; 0 to %d are possible", of, l.Calls, callsMax)
	case l.CallsPerMinute < 0 || l.CallsPerMinute > callsPerMinuteMax:
		return fmt.Errorf("access: check limits of %s: %d calls per minute; 0 to %d are possible", of, l.CallsPerMinute,
			callsPerMinuteMax)
	case l.BytesPerMinute != 0 && (l.BytesPerMinute < bytesPerMinuteMin || l.BytesPerMinute > bytesPerMinuteMax):
		return fmt.Errorf("access: check limits of %s: %d bytes per minute; 0, or %d to %d are possible", of,
			l.BytesPerMinute, bytesPerMinuteMin, bytesPerMinuteMax)
	}
	return nil
}

// none reports whether nothing is limited.
func (l Limits) none() bool { return l == Limits{} }

// callGap is the time after which a call may begin again.
func (l Limits) callGap() time.Duration { return time.Minute / time.Duration(l.CallsPerMinute) }

// byteGap is the time after which a part of the bytes may be spent again.
const byteGap = time.Minute / byteParts

// bytePart is how many bytes one token stands for; the last bytes of a limit that is no multiple are not given.
func (l Limits) bytePart() int64 { return l.BytesPerMinute / byteParts }
