package webtest_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/npmtest"
)

// embedExamples are the scripts of docs/embed.md and docs/webrtc.md as modules that import the
// package, and what the text has a page do.
func embedExamples(t *testing.T) []string {
	t.Helper()
	doc := fixture(t, "../../../docs/embed.md")
	var out []string
	for _, m := range regexp.MustCompile("(?s)```js\n(.*?)```|<script type=\"module\">\n(.*?)</script>").
		FindAllStringSubmatch(doc, -1) {
		code := strings.ReplaceAll(m[1]+m[2], "https://gateway.example/client.js", "voicegw")
		if !strings.Contains(code, "import ") {
			code = "import { VoiceClient } from \"voicegw\";\n" + code
		}
		code = strings.ReplaceAll(code, "https://gateway.example/client/element.js", "voicegw/element")
		if strings.Contains(code, "call.") && !strings.Contains(code, "const call =") {
			code = strings.Replace(code, "\n", "\nconst call = new VoiceClient();\n", 1)
		}
		out = append(out, code)
	}
	rtc := regexp.MustCompile(`(?m)^    import .*\n(?:    .*\n)+`).FindString(fixture(t, "../../../docs/webrtc.md"))
	out = append(out, regexp.MustCompile(`"http[^"]*/client\.js"`).ReplaceAllString(rtc, `"voicegw"`))
	const again = "`(configure\\(\\{ url, connect: undefined \\}\\))`"
	m := regexp.MustCompile(again).FindStringSubmatch(doc)
	if len(out) != 8 || rtc == "" || m == nil {
		t.Fatalf("the pages have %d scripts and say %q; %s", len(out), m, rtc)
	}
	return append(out, `import { VoiceClient } from "voicegw";
		const url = "/v1/voice";
		const call = new VoiceClient();
		call.`+m[1]+";\n")
}

// TestJavaScriptTypes has TypeScript check every module of the client, the pages and their tests,
// and that the class VoiceClient is what index.d.ts declares.
func TestJavaScriptTypes(t *testing.T) {
	t.Parallel()
	includesSources(t)
	npmtest.CheckProject(t, "../tsconfig.json")
}

// includesSources checks that tsconfig.json includes every folder below web that has JavaScript.
// The examples are projects of their own: see TestExampleReact and
// TestExampleElement.
func includesSources(t *testing.T) {
	t.Helper()
	var config struct {
		Include []string `json:"include"`
	}
	if err := json.Unmarshal([]byte(fixture(t, "../../tsconfig.json")), &config); err != nil {
		t.Fatal(err)
	}
	included := func(folder string) bool {
		return slices.ContainsFunc(config.Include, func(root string) bool {
			return folder == root || strings.HasPrefix(folder, root+"/")
		})
	}
	missing, sources := map[string]bool{}, 0
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		if name == "examples" {
			return fs.SkipDir
		}
		if folder := path.Dir(name); path.Ext(name) == ".js" {
			sources++
			if !included(folder) {
				missing[folder] = true
			}
		}
		return err
	})
	if err != nil || sources == 0 {
		t.Fatalf("%d sources: %v", sources, err)
	}
	for _, folder := range slices.Sorted(maps.Keys(missing)) {
		t.Errorf("web/%s has JavaScript, and tsconfig.json does not include it", folder)
	}
}

// TestExamplesInTypeScript has TypeScript accept what the pages show, and typed listeners.
func TestExamplesInTypeScript(t *testing.T) {
	t.Parallel()
	p := packWithReact(t)
	files := []string{p.write(t, "page.d.ts", "declare const talk: HTMLButtonElement;\n"+
		"declare const button: HTMLButtonElement;\n"),
		p.write(t, "listeners.ts", fixture(t, "listeners.ts"))}
	for i, code := range embedExamples(t) {
		files = append(files, p.write(t, fmt.Sprintf("example%d.ts", i), code+"export {};\n"))
	}
	npmtest.CheckTypes(t, files...)
}

// TestExamplesInNode runs in node what the pages show, as a server does that renders a page:
// nothing breaks, and a call is refused with a code.
func TestExamplesInNode(t *testing.T) {
	t.Parallel()
	p := packWithReact(t)
	for i, code := range embedExamples(t) {
		script := "globalThis.document = { querySelector: () => null };\nglobalThis.talk = globalThis.button = {};\n"
		script += fmt.Sprintf("await import(\"./example%d.mjs\");\nconsole.log(JSON.stringify({type: \"done\"}));\n", i)
		p.write(t, fmt.Sprintf("example%d.mjs", i), code)
		program := npmtest.Start(t, p.write(t, fmt.Sprintf("run%d.mjs", i), script))
		program.AwaitType("done")
		program.Wait()
	}
	program := npmtest.Start(t, p.write(t, "refused.mjs", `import { VoiceClient } from "voicegw";
		const codes = [new VoiceClient().start(), VoiceClient.microphones()].map((p) => p.catch((e) => e.code));
		console.log(JSON.stringify({ type: "codes", text: (await Promise.all(codes)).join() }));`))
	if e := program.AwaitType("codes"); e.Text != "unsupported,unsupported" {
		t.Errorf("without a browser a call fails with %s", e.Text)
	}
	program.Wait()
}
