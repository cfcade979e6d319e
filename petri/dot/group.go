package dot

import (
	"strings"

	"github.com/voicegw/voicegw/petri"
)

// group is a subnet with its own places and transitions. The root has no name.
type group struct {
	path        string // qualified
	name        string
	places      []int
	transitions []int
	parts       []*group
}

// groupTree groups places and transitions by the subnets to which they are private.
func groupTree(p *petri.Program) *group {
	root := &group{}
	byPath := map[string]*group{"": root}
	for i := range p.Places() {
		g := findGroup(byPath, p.Places()[i].Group)
		g.places = append(g.places, i)
	}
	for i := range p.Transitions() {
		g := findGroup(byPath, p.Transitions()[i].Group)
		g.transitions = append(g.transitions, i)
	}
	return root
}

// findGroup returns the group of a path. It creates the group and those around it if they do not
// exist.
func findGroup(byPath map[string]*group, path string) *group {
	if g := byPath[path]; g != nil {
		return g
	}
	outer, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		outer, name = path[:i], path[i+1:]
	}
	g := &group{path: path, name: name}
	byPath[path] = g
	around := findGroup(byPath, outer)
	around.parts = append(around.parts, g)
	return g
}

// all returns the group and those within it, outer ones first.
func (g *group) all() []*group {
	out := []*group{g}
	for _, part := range g.parts {
		out = append(out, part.all()...)
	}
	return out
}

// shortName returns a qualified name as seen from within a group.
func shortName(name, group string) string {
	return strings.TrimPrefix(name, group+"/")
}
