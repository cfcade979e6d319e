package workflow

import (
	"fmt"

	"github.com/voicegw/voicegw/verify"
	"github.com/voicegw/voicegw/verify/claim"
)

// worksTold claims that a leaf in which a run is either works, or is parked, or waits for an agent that it
// calls. So a run parks when no leaf works, and no sooner.
func worksTold(b *block) *verify.Property {
	others := fmt.Sprintf("%q", b.name+"/"+parked.String())
	for _, k := range b.kids {
		others += fmt.Sprintf(" + %q", b.name+"/"+k.name+"/busy")
	}
	v := verify.Never(fmt.Sprintf("%q != %q + %s", b.name+"/"+busy.String(), b.works().String(), others))
	v.Name, v.Doc = "works or waits", "a leaf works, is parked, or waits for an agent that it calls"
	return v
}

// leafMoves claim what a leaf does on its way: it marks the exit of the loop that it ends, and runs the calls of
// an answer before it asks its model again.
func leafMoves(b *block) []*verify.Property {
	var list []*verify.Property
	move := func(m claim.Move) { list = append(list, verify.EachMove(m)) }
	if b.exits() {
		move(claim.Move{Name: "the exit is marked", Doc: "an agent that calls exit_loop marks the exit of its loop",
			On: []string{b.name + "/go_on_and_exit"}, Then: fmt.Sprintf("%q", b.loop.exit().String())})
	}
	if b.agent.leaf() && len(b.kids) > 0 {
		collects := b.name + "/collect"
		for _, k := range b.kids {
			collects += "|" + b.name + "/collect_" + k.name
		}
		move(claim.Move{Name: "calls are run", Doc: "the model is asked again only behind a call",
			On: []string{b.name + "/go_back"}, Does: []string{collects}})
	}
	return list
}
