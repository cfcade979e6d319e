package access

import "fmt"

// Limits bound what one address, tenant or subject may use. A zero field sets no limit.
type Limits struct {
	// Calls is the number of calls at one time, at most 10,000.
	Calls int
	// CallsPerMinute is the number of calls that may begin in a minute, at most 6,000. It is a
	// token bucket: that many may begin at once, then one each minute/CallsPerMinute.
	CallsPerMinute int
	// BytesPerMinute is the number of bytes that Grant.Spend accepts in a minute, 60 to 1 TiB. It
	// is a token bucket: that many may be spent at once, then they come back evenly.
	BytesPerMinute int64
}

const (
	callsMax          = 10_000
	callsPerMinuteMax = 6_000
	bytesPerMinuteMin = 60
	bytesPerMinuteMax = 1 << 40
)

// check returns an error for a field that is out of range. of names the owner of the limits.
func (l Limits) check(of string) error {
	switch {
	case l.Calls < 0 || l.Calls > callsMax:
		return fmt.Errorf("limits of %s: %d calls, want 0 to %d", of, l.Calls, callsMax)
	case l.CallsPerMinute < 0 || l.CallsPerMinute > callsPerMinuteMax:
		return fmt.Errorf("limits of %s: %d calls per minute, want 0 to %d", of, l.CallsPerMinute,
			callsPerMinuteMax)
	case l.BytesPerMinute != 0 && (l.BytesPerMinute < bytesPerMinuteMin || l.BytesPerMinute > bytesPerMinuteMax):
		return fmt.Errorf("limits of %s: %d bytes per minute, want 0 or %d to %d", of,
			l.BytesPerMinute, bytesPerMinuteMin, int64(bytesPerMinuteMax))
	}
	return nil
}
