package voicenets

import (
	"fmt"

	"github.com/voicegw/voicegw/petri"
)

// PartsOf returns the parts of a session of this configuration, in the order in which they are
// composed. It includes those that Config.Parts replaces, not those that it leaves out.
func PartsOf(c Config) ([]Part, error) {
	c, err := c.Filled()
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

// Subnet returns one part of a session: the one from Config.Parts if it replaces the part, else the
// one of this package. petri.Alone completes it so that it compiles. It returns an error for a part
// that the session does not have.
func Subnet(c Config, name Part) (*petri.Net, error) {
	c, err := c.Filled()
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
