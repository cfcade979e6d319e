package workflow_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/workflow"
)

// table is the table of an object of the format, as docs/workflows.md has it.
func table(object string) string {
	text := "| key | type | default | |\n|---|---|---|---|\n"
	for _, row := range workflow.Keys(object) {
		def := row[2]
		if def != "" {
			def = "`" + def + "`"
		}
		text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", row[0], row[1], def, row[3])
	}
	return text
}

// TestDocs wants docs/workflows.md to have the tables of the format, and broken files with what Verify
// says about them.
func TestDocs(t *testing.T) {
	const path = "../../docs/workflows.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := string(b)
	for _, object := range workflow.Objects() {
		tables := regexp.MustCompile(`(?s)(### ` + object + `\n\n)\| key.*?\n(\n|$)`)
		if *update {
			doc = tables.ReplaceAllString(doc, "${1}"+strings.ReplaceAll(table(object), "$", "$$")+"\n")
		}
		if !strings.Contains(doc, "### "+object+"\n\n"+table(object)) {
			t.Errorf("the table of %s is missing or old; go test -update writes it", object)
		}
	}
	shown := 0
	files := regexp.MustCompile("(?s)```yaml\n(.*?)```\n(?:\n```text\n(.*?)```\n)?")
	for _, m := range files.FindAllStringSubmatch(doc, -1) {
		_, found := judge(t, "flow.yaml", []byte(m[1]))
		var got strings.Builder
		for _, f := range found {
			got.WriteString(f.String() + "\n")
		}
		if *update && m[2] != "" {
			doc = strings.Replace(doc, m[0], "```yaml\n"+m[1]+"```\n\n```text\n"+got.String()+"```\n", 1)
			m[2] = got.String()
		}
		if got.String() != m[2] {
			t.Errorf("the file\n%s\ngets\n%s\nand the page says\n%s", m[1], got.String(), m[2])
		}
		if m[2] != "" {
			shown++
		}
	}
	if shown < 5 {
		t.Errorf("the page shows %d broken files", shown)
	}
	if *update {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
