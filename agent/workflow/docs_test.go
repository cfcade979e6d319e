package workflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/agent/workflow"
)

// table is the table of an object of the format, as docs/workflows-reference.md has it.
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

// page calls fn with the text of a page, and writes the page if fn changes it and -update is given.
func page(t *testing.T, path string, fn func(doc string) string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if doc := fn(string(b)); *update && doc != string(b) {
		if err := os.WriteFile(path, []byte(doc), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDocsTables wants docs/workflows-reference.md to have the tables of the format.
func TestDocsTables(t *testing.T) {
	page(t, "../../docs/workflows-reference.md", func(doc string) string {
		for _, object := range workflow.Objects() {
			tables := regexp.MustCompile(`(?s)(## ` + object + `\n\n)\| key.*?\n(\n|$)`)
			if *update {
				doc = tables.ReplaceAllString(doc, "${1}"+strings.ReplaceAll(table(object), "$", "$$")+"\n")
			}
			if !strings.Contains(doc+"\n", "## "+object+"\n\n"+table(object)+"\n") {
				t.Errorf("the table of %s is missing or old; go test -run Docs -update writes it", object)
			}
		}
		return strings.TrimRight(doc, "\n") + "\n"
	})
}

// TestDocs wants the pages about workflows to show files with exactly what Verify says about them: nothing
// below a file means that it is proved.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/workflows*.md")
	if err != nil || len(pages) < 4 {
		t.Fatalf("%v %v", pages, err)
	}
	shown := 0
	files := regexp.MustCompile("(?s)```yaml\n(.*?)```\n(?:\n```text\n(.*?)```\n)?")
	for _, path := range pages {
		page(t, path, func(doc string) string {
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
					t.Errorf("the file\n%s\ngets\n%s\nand %s says\n%s", m[1], got.String(), path, m[2])
				}
				if m[2] != "" {
					shown++
				}
			}
			return doc
		})
	}
	if shown < 15 {
		t.Errorf("the pages show %d broken files", shown)
	}
}
