package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// PartsOf are the parts that a session of this configuration has, in the order
// in which they are composed. It has those that Config.Parts replaces, not those
// that it leaves out.
func PartsOf(c Config) ([]Part, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	var list []Part
	for _, p := range parts(c) {
		if build, ok := c.Parts[p.name]; !ok || build != nil {
			list = append(list, p.name)
		}
	}
	return list, nil
}

// Subnet is one part of a session, as its function makes it or the one that
// Config.Parts has in its place. petri.Alone gives it something to be compiled
// with. A part that the session does not have is an error.
func Subnet(c Config, name Part) (*petri.Net, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	for _, p := range parts(c) {
		build := p.net
		if own, ok := c.Parts[p.name]; ok {
			build = own
		}
		if p.name == name && build != nil {
			return build(c), nil
		}
	}
	return nil, fmt.Errorf("voicenets: a session of this configuration has no part %q", name)
}
