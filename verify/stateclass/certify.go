package stateclass

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/voicegw/voicegw/verify/check"
	"github.com/voicegw/voicegw/verify/claim"
)

// Certify makes a certificate of a complete graph for claims about markings only: the list of its
// classes. It does not check whether the claims hold: check.Certificate.Check does.
func (g *Graph) Certify(claims ...claim.Claim) (*check.Certificate, error) {
	if !g.Complete {
		return nil, fmt.Errorf("stateclass: certify %s: not all classes were found", g.Model.Program().Name())
	}
	c := &check.Certificate{Method: "classes", Count: g.Classes(), Relax: g.Options.Relax, Keep: g.Options.Keep}
	markings, zones := []byte{}, []byte{}
	g.Each(func(i int, m []int32) bool {
		for _, n := range m {
			markings = binary.AppendUvarint(markings, uint64(n))
		}
		k := len(g.markings[g.classes[i].marking].clocks) + 1
		for _, v := range g.zone(uint32(i), k*k) {
			if v == unbounded {
				v = math.MaxInt64
			}
			zones = binary.AppendVarint(zones, v)
		}
		return true
	})
	return c, c.Seal(g.Model, markings, zones, claims)
}
