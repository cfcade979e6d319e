package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/voicegw/voicegw/internal/npmtest"
)

// embedExamples are the scripts of docs/embed.md and docs/webrtc.md as modules that import the
// package, and what the text has a page do.
func embedExamples(t *testing.T) []string {
	t.Helper()
	doc := fixture(t, "../../docs/embed.md")
	var out []string
	for _, m := range regexp.MustCompile("(?s)```js\n(.*?)```|<script type=\"module\">\n(.*?)</script>").
		FindAllStringSubmatch(doc, -1) {
		code := strings.ReplaceAll(m[1]+m[2], "https://gateway.example/client.js", "voicegw")
		if !strings.Contains(code, "import ") {
			code = "import { VoiceClient } from \"voicegw\";\n" + code
		}
		out = append(out, code)
	}
	rtc, _, _ := strings.Cut(strings.TrimPrefix(fixture(t, "../../docs/webrtc.md"), "# WebRTC\n\n"), "\n\n")
	out = append(out, strings.ReplaceAll(rtc, "https://gateway.example/client.js", "voicegw"))
	const again = "`(configure\\(\\{ url, connect: undefined \\}\\))`"
	m := regexp.MustCompile(again).FindStringSubmatch(doc)
	if len(out) != 5 || !strings.HasPrefix(rtc, "    import ") || m == nil {
		t.Fatalf("the pages have %d scripts and say %q; %s", len(out), m, rtc)
	}
	return append(out, `import { VoiceClient } from "voicegw";
		const url = "/v1/voice";
		const call = new VoiceClient();
		call.`+m[1]+";\n")
}

// besidePackage writes a file beside node_modules with the package in it.
func besidePackage(t *testing.T, modules, name, text string) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(modules), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestExamplesInTypeScript has TypeScript accept what the pages show, and typed listeners.
func TestExamplesInTypeScript(t *testing.T) {
	modules, _ := pack(t)
	files := []string{besidePackage(t, modules, "page.d.ts", "declare const talk: HTMLButtonElement;\n"+
		"declare const button: HTMLButtonElement;\n"),
		besidePackage(t, modules, "listeners.ts", fixture(t, "listeners.ts"))}
	for i, code := range embedExamples(t) {
		files = append(files, besidePackage(t, modules, fmt.Sprintf("example%d.ts", i), code+"export {};\n"))
	}
	npmtest.CheckTypes(t, files...)
}

// TestExamplesInNode runs in node what the pages show, as a server does that renders a page:
// nothing breaks, and a call is refused with a code.
func TestExamplesInNode(t *testing.T) {
	modules, _ := pack(t)
	for i, code := range embedExamples(t) {
		script := "globalThis.document = { querySelector: () => null };\nglobalThis.talk = globalThis.button = {};\n"
		script += fmt.Sprintf("await import(\"./example%d.mjs\");\nconsole.log(JSON.stringify({type: \"done\"}));\n", i)
		besidePackage(t, modules, fmt.Sprintf("example%d.mjs", i), code)
		p := npmtest.Start(t, besidePackage(t, modules, fmt.Sprintf("run%d.mjs", i), script))
		p.AwaitType("done")
		p.Wait()
	}
	p := npmtest.Start(t, besidePackage(t, modules, "refused.mjs", `import { VoiceClient } from "voicegw";
		const codes = [new VoiceClient().start(), VoiceClient.microphones()].map((p) => p.catch((e) => e.code));
		console.log(JSON.stringify({ type: "codes", text: (await Promise.all(codes)).join() }));`))
	if e := p.AwaitType("codes"); e.Text != "unsupported,unsupported" {
		t.Errorf("without a browser a call fails with %s", e.Text)
	}
	p.Wait()
}
