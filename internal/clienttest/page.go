package clienttest

import (
	"fmt"
	"slices"
	"strings"
)

const head = `# Third-party clients, and what works

<!-- Made by "go test ./internal/clienttest -update" from clients.go, which the tests compare with what they saw. -->

"yes": a test passes with the client itself, of which only the address is changed. "recorded": the client does not
run in our tests; the messages that this version sends are replayed, and the gateway answers them without an error.
"no" has its reason below.

` + "`make test` tries the newest version of each, `make clients` the older ones too (marked *)." + `

`

// Page returns the page of a table. version returns the version of a package.
func Page(table []Client, version func(pkg string) (string, error)) (string, error) {
	var b strings.Builder
	var notes []string
	b.WriteString(head + "| client | version |")
	for _, f := range Features() {
		fmt.Fprintf(&b, " %s |", f)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(Features())) + "\n")
	for _, c := range table {
		v := c.Version
		if c.Package != "" {
			var err error
			if v, err = version(c.Package); err != nil {
				return "", err
			}
		}
		if c.Older {
			v += " *"
		}
		fmt.Fprintf(&b, "| %s | %s |", c.Name, v)
		for _, f := range Features() {
			fmt.Fprintf(&b, " %s |", c.cell(f, &notes))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, note := range notes {
		fmt.Fprintf(&b, "%d. %s\n", i+1, note)
	}
	b.WriteString(foot)
	return b.String(), nil
}

// cell returns the text of a cell, and adds its reason to the notes.
func (c *Client) cell(f Feature, notes *[]string) string {
	why := c.Not[f]
	if why == "" {
		if c.Recorded {
			return "recorded"
		}
		return "yes"
	}
	i := slices.Index(*notes, why)
	if i < 0 {
		i = len(*notes)
		*notes = append(*notes, why)
	}
	return fmt.Sprintf("no (%d)", i+1)
}

const foot = `
How to open the endpoint of each, and what it does with every message: [Gemini](gemini.md), [OpenAI](openai.md),
[RTVI](rtvi.md). Clients of [WHIP and WebRTC](webrtc.md) and [telephone carriers](twilio.md) are tested too, each on its
page.
`
