package managed

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"
)

// The prefixes of ids.
const (
	agentPrefix       = "agent_"
	sessionPrefix     = "sesn_"
	environmentPrefix = "env_"
	eventPrefix       = "sevt_"
)

var idAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// ids makes ids that sort in the order in which a process makes them. The zero value is ready.
type ids struct {
	mu   sync.Mutex
	last uint64 // milliseconds, and 16 bits that count within one
}

// next returns an id: the prefix and 26 characters, 48 bits of time and 16 of a counter in front of 64 random
// ones. A clock that jumps back does not change the order.
func (i *ids) next(prefix string, now time.Time) string {
	i.mu.Lock()
	i.last = max(i.last+1, uint64(now.UnixMilli())<<16)
	last := i.last
	i.mu.Unlock()
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], last)
	_, _ = rand.Read(b[8:])
	return prefix + idAlphabet.EncodeToString(b[:])
}

// newID is an id of the Runtime.
func (r *Runtime) newID(prefix string) string { return r.ids.next(prefix, r.now()) }

// prefix is the part of the session's id that the ids of its events begin with.
func (o *owned) prefix() string { return strings.TrimPrefix(o.id, sessionPrefix) }

// eventID is the id of the event with a number.
func eventID(session string, seq uint64) string {
	return fmt.Sprintf("%s%s_%d", eventPrefix, session, seq)
}

// partID is the id of the message that is part i of the answer to a request.
func partID(session string, span uint64, i int) string {
	return fmt.Sprintf("%s%s_%d_%d", eventPrefix, session, span, i)
}

// logKey is the key of the log of a session.
func logKey(id string) string { return "sessions/" + id }

// docKey is the key of a document of a tenant.
func docKey(o Owner, kind, id string) string {
	return fmt.Sprintf("%s/t%s/%s", kind, hex.EncodeToString([]byte(o.Tenant)), id)
}

// bytes are the bytes of a base64 source, which was checked when it was accepted.
func (s *Source) bytes() []byte {
	b, err := base64.StdEncoding.DecodeString(s.Data)
	if err != nil {
		return nil
	}
	return b
}
