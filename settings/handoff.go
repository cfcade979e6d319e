package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/voicegw/voicegw"
	"github.com/voicegw/voicegw/transport"
)

// HandOff says where calls may be handed off to.
type HandOff struct {
	Targets map[string]string // addresses by name; empty: operators name addresses
	Tool    bool              // the model may hand calls off
}

func (s *Settings) handOffRows() []Row {
	h := &s.HandOff
	return []Row{
		mapRow("handoff.targets", &h.Targets, "entries such as sales=+4930123456, or a map of names and addresses",
			"where calls may be handed off to: addresses that the endpoint of the call understands, by name; operators can "+
				"then name no others", isTarget).reloading(),
		onRow("handoff.tool", &h.Tool, "let the model hand calls off to handoff.targets, with the function "+
			voicegw.TransferToolName).reloading().onlyIf(func() bool { return len(h.Targets) > 0 }, "handoff.targets is none"),
	}
}

// mapRow is a map of texts, or a list of entries name=text. ok accepts an entry.
func mapRow(key string, to *map[string]string, want, doc string, ok func(name, text string) bool) Row {
	var list []string
	r := listRow(key, &list, want, doc, func([]string) bool { return true })
	inner := r.store
	r.mapped, r.store = true, func(v value) bool {
		all := v.texts
		if all == nil {
			if !inner(v) {
				return false
			}
			all = map[string]string{}
			for _, entry := range list {
				name, text, _ := strings.Cut(entry, "=")
				if _, twice := all[name]; twice {
					return false
				}
				all[name] = text
			}
		}
		*to = all
		for name, text := range all {
			if !ok(name, text) {
				return false
			}
		}
		return len(all) <= itemsMax
	}
	return r
}

// isTarget reports whether calls can be handed off to an address.
func isTarget(name, address string) bool {
	return name != "" && len(name) <= transport.NameLenMax && address != "" && len(address) <= transport.AddressLenMax &&
		!strings.ContainsAny(name+address, " \t\r\n")
}

// handOffTool adds the function by which the model hands calls off.
func (s *Settings) handOffTool(tools []voicegw.Tool) ([]voicegw.Tool, error) {
	if !s.HandOff.Tool || len(s.HandOff.Targets) == 0 {
		return tools, nil
	}
	t, err := voicegw.TransferTool(s.HandOff.Targets)
	if err != nil {
		return nil, fmt.Errorf("handoff.targets: %w", err)
	}
	return append(slices.Clip(tools), t), nil
}
