package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/verify/netmodel"
)

// opened is the verdict on an open net.
func opened(m *netmodel.Model, method string, open []string) Verdict {
	list := strings.Join(open, ", ")
	if !slices.ContainsFunc(m.Timed(), m.Outside) {
		return unknown(method, OpenEnv, "nothing fills %s: close the net with automata of its environment (petri.Close)",
			list)
	}
	return unknown(method, OpenEnv, "no automaton of the environment fills %s: the places it shares with the net must be "+
		"among the Ports of both, by one name, and it must send every kind of token%s", list, namesakes(m, open))
}

// namesakes lists other places with the same last part of the name: these belong to an automaton
// that does not list them as ports.
func namesakes(m *netmodel.Model, open []string) string {
	var out []string
	for _, name := range open {
		last := name[strings.LastIndexByte(name, '/')+1:]
		for i := range m.Places {
			if other := m.Places[i].Name; other != name && strings.HasSuffix(other, "/"+last) {
				out = append(out, fmt.Sprintf("%s is not %s", other, name))
			}
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "; " + strings.Join(out, ", ")
}
