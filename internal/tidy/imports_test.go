package tidy

import (
	"maps"
	"path"
	"strings"
)

// A layer is what the packages of one folder may import of our own.
type layer struct {
	imports []string // folders; "x/*" is every folder directly in x, "..." every one there is
	tests   []string // what their tests may import besides
}

// layers is the architecture: a folder that is not here must not hold a package. "x/*" stands for the folders
// directly in x that have no line of their own. docs/development.md shows it to people; the rule "layout" compares the
// two.
func layers() map[string]layer {
	all := verifyLayers()
	maps.Copy(all, agentLayers())
	maps.Copy(all, map[string]layer{
		".": {imports: []string{
			"petri", "petri/*", "voicenets", "audio", "live", "live/*", "transport",
			"transport/*", "transport/ws/*", "access", "internal/foreign",
		}, tests: []string{"web", "audio/audiotest", "verify", "verify/*", "voicenets/*"}},
		"cmd/voicegw":     {imports: []string{"..."}},
		"cmd/voicegw/*":   {imports: []string{"..."}},
		"petri":           {},
		"petri/event":     {imports: []string{"petri"}},
		"petri/runner":    {imports: []string{"petri", "petri/event"}},
		"petri/dot":       {imports: []string{"petri"}},
		"petri/netview":   {imports: []string{"petri", "petri/dot"}},
		"petri/petritest": {imports: []string{"petri"}},
		"petri/patterns":  {imports: []string{"petri"}},
		"voicenets":       {imports: []string{"petri", "voicenets/internal/prune"}, tests: []string{"voicenets/prove"}},
		"voicenets/claims": {
			imports: []string{"petri", "verify", "verify/*", "voicenets", "voicenets/internal/prune"},
		},
		"voicenets/internal/prune": {imports: []string{"petri"}},
		"voicenets/mutants": {
			imports: []string{"petri", "verify", "verify/*", "voicenets", "voicenets/claims"},
		},
		"voicenets/prove":        {imports: []string{"voicenets", "voicenets/claims"}},
		"audio":                  {},
		"audio/audiotest":        {imports: []string{"audio"}},
		"audio/opus":             {tests: []string{"audio"}},
		"audio/audiotest/speech": {imports: []string{"audio"}},
		"live": {
			imports: []string{"audio", "internal/foreign", "internal/jsonscan"}, tests: []string{"live/sim"},
		},
		"live/sim":            {imports: []string{"audio", "internal/spelling"}, tests: []string{"live"}},
		"transport":           {imports: []string{"audio"}},
		"transport/*":         {imports: []string{"audio", "transport"}},
		"transport/admission": {imports: []string{"transport"}},
		"transport/wsconn":    {imports: []string{"transport", "transport/admission"}},
		"transport/resume":    {imports: []string{"transport"}},
		"transport/ws": {
			imports: []string{"audio", "transport", "transport/admission", "transport/resume", "transport/wsconn",
				"internal/foreign", "internal/jsonscan"},
		},
		"transport/rtc": {
			imports: []string{"audio", "audio/opus", "transport", "transport/admission", "transport/ws"},
			tests:   []string{".", "access", "live", "live/sim", "transport/openai", "transport/rtvi", "web"},
		},
		"transport/ws/wstest": {},
		"transport/openai": {
			imports: []string{"audio", "transport", "transport/admission", "transport/wsendpoint", "transport/wsconn",
				"internal/foreign", "internal/jsonscan"},
			tests: []string{".", "transport/rtc"},
		},
		"transport/rtvi": {
			imports: []string{"audio", "transport", "transport/wsendpoint", "transport/wsconn",
				"internal/foreign"},
			tests: []string{".", "transport/rtc"},
		},
		"transport/gemini": {
			imports: []string{"audio", "transport", "transport/wsendpoint", "transport/wsconn",
				"internal/foreign", "internal/jsonscan"},
			tests: []string{"."},
		},
		"transport/wsendpoint": {imports: []string{"audio", "transport", "transport/admission", "transport/resume",
			"transport/wsconn"}},
		"transport/ws/wsclient": {imports: []string{"audio", "transport", "transport/ws"}},
		"transport/mediastream": {
			imports: []string{"audio", "transport", "transport/admission", "transport/phone", "transport/wsconn",
				"internal/foreign", "internal/jsonscan"},
			tests: []string{".", "live", "live/sim", "transport/phone/phonetest"},
		},
		"transport/phone":           {imports: []string{"audio", "transport", "transport/admission", "transport/wsconn"}},
		"transport/phone/phonetest": {imports: []string{"audio", "transport/phone"}},
		"transport/asterisk": {
			imports: []string{"audio", "transport", "transport/admission", "transport/phone", "transport/wsconn",
				"internal/foreign"},
			tests: []string{".", "live", "live/sim", "transport/phone/phonetest"},
		},
		"control": {imports: []string{".", "internal/strictjson", "transport"},
			tests: []string{"live", "live/sim", "petri", "petri/event", "transport/ws", "voicenets"}},
		"console": {imports: []string{".", "petri", "petri/dot", "petri/event", "voicenets"},
			tests: []string{"internal/npmtest", "live", "live/sim", "transport", "transport/ws", "transport/ws/*", "web"}},
		"telemetry": {imports: []string{".", "transport"}},
		"webhook":   {imports: []string{".", "agent/fetch", "internal/strictjson", "live", "transport"}},
		"settings": {
			imports: []string{".", "access", "audio", "live", "transport", "transport/ws", "transport/wsconn",
				"voicenets", "internal/spelling"},
			tests: []string{"live/sim"},
		},
		"web": {},
		"web/webtest": {tests: []string{".", "agent/managed", "agent/managed/api", "agent/provider", "audio",
			"journal/journaltest", "live", "live/sim", "petri", "petri/netview", "petri/runner", "transport", "transport/ws",
			"voicenets", "web"}},
		"access": {
			imports: []string{"transport"},
			tests:   []string{".", "audio", "live", "live/sim", "transport/ws", "transport/ws/wsclient"},
		},
		"bench": {imports: []string{"audio", "audio/opus", "live/sim", "transport", "transport/ws"},
			tests: []string{"bench/relay"}}, "bench/relay": {imports: []string{"audio", "audio/opus"}},
		"internal/foreign": {}, "internal/jsonscan": {},
		"internal/foreign/foreigntest": {},
		"internal/spelling":            {},
		"internal/strictjson":          {imports: []string{"internal/spelling"}},
		"internal/tidy":                {}, "internal/browsertest": {},
		"internal/npmtest": {}, "internal/clienttest": {imports: []string{"internal/npmtest"}},
		"internal/tools/authority": {},
		"internal/durablebench": {imports: []string{"agent/managed", "agent/managed/api", "agent/provider", "journal",
			"journal/jetstream", "journal/postgres"}},
		"internal/deploycheck": {tests: []string{"settings"}},
		"internal/simulate": {
			imports: []string{".", "audio/audiotest", "live", "live/sim", "petri", "petri/event", "transport",
				"transport/ws/wstest", "verify", "verify/*", "voicenets", "voicenets/claims"},
		},
		"internal/endpointtest": {
			imports: []string{".", "audio", "audio/audiotest", "internal/foreign/foreigntest", "live", "live/sim", "transport",
				"transport/ws/wstest"},
		},
	})
	return all
}

// agentLayers are those of agents.
func agentLayers() map[string]layer {
	return map[string]layer{
		"agent": {
			imports: []string{"petri", "petri/event", "petri/netview", "petri/patterns", "petri/runner", "verify",
				"verify/claim", "verify/netmodel"},
			tests: []string{"agent/provider"},
		},
		"agent/provider":          {imports: []string{"internal/foreign", "internal/spelling"}},
		"agent/provider/wiretest": {},
		"agent/fetch":             {},
		"agent/workflow/expr":     {imports: []string{"internal/spelling"}},
		"agent/workflow/tools": {imports: []string{"agent/fetch", "agent/managed", "agent/workflow/expr",
			"internal/spelling"}},
		"agent/workflow/openapi": {imports: []string{"agent/fetch", "agent/managed", "internal/spelling"}},
		"agent/managed": {imports: []string{"agent", "agent/managed/life", "agent/provider", "journal", "petri",
			"petri/runner", "verify", "internal/strictjson", "agent/fetch"}, tests: []string{"agent/workflow",
			"journal/jetstream", "journal/journaltest"}},
		"agent/workflow": {imports: []string{"agent", "agent/workflow/expr", "internal/spelling", "petri",
			"petri/patterns", "verify", "verify/check", "verify/claim", "verify/explore", "verify/netmodel"},
			tests: []string{"petri/event", "verify/mutate"}},
		"agent/calls": {imports: []string{".", "agent/managed", "transport"},
			tests: []string{"agent/provider", "agent/workflow", "agent/workflow/exec", "journal/journaltest",
				"journal/memory", "live", "live/sim", "transport/ws"}},
		"agent/workflow/exec": {imports: []string{"agent", "agent/managed", "agent/provider", "agent/workflow", "journal"},
			tests: []string{"journal/journaltest"}},
		"agent/workflow/flowtest": {imports: []string{"agent/managed", "agent/provider", "agent/workflow/exec",
			"internal/spelling", "journal/memory"}, tests: []string{"agent/workflow"}},
		"agent/workflow/httpapi": {imports: []string{"agent/managed", "agent/managed/api", "agent/workflow",
			"agent/workflow/exec", "internal/spelling"}, tests: []string{"agent/provider", "journal/memory"}},
		"agent/managed/api": {imports: []string{"agent/managed"},
			tests: []string{"agent/provider", "internal/npmtest", "journal", "journal/jetstream", "journal/journaltest",
				"transport/ws/wstest"}},
		"agent/managed/life": {imports: []string{"petri", "verify", "verify/claim", "verify/netmodel"},
			tests: []string{"petri/petritest", "verify/mutate"}},
		"journal":             {tests: []string{"journal/journaltest"}},
		"journal/jetstream":   {imports: []string{"journal"}, tests: []string{"journal/journaltest"}},
		"journal/memory":      {imports: []string{"journal"}},
		"journal/journaltest": {imports: []string{"journal", "journal/memory"}},
		"journal/postgres":    {imports: []string{"journal"}, tests: []string{"journal/journaltest"}},
		"agent/adkagent": {imports: []string{".", "agent", "audio", "live", "petri", "petri/event", "petri/netview",
			"transport", "voicenets", "web"}, tests: []string{"agent/provider", "live/sim", "verify", "voicenets/prove"}},
		"examples/desk":          {imports: []string{"agent", "agent/provider", "examples/internal/desk"}},
		"examples/deskrest":      {imports: []string{"agent", "agent/adkagent", "examples/internal/desk"}},
		"examples/internal/desk": {imports: []string{"agent", "verify"}},
	}
}

// verifyLayers are those of proofs.
func verifyLayers() map[string]layer {
	return map[string]layer{
		"verify/expr":   {},
		"verify/farkas": {},
		"verify/netmodel": {imports: []string{"petri", "verify/expr", "internal/spelling"},
			tests: []string{"verify/nettest"}},
		"verify/claim": {imports: []string{"petri", "verify/expr", "verify/netmodel"}},
		// A checker that imported what makes certificates would share its mistakes.
		"verify/check": {imports: []string{"petri", "verify/expr", "verify/netmodel", "verify/claim"}},
		"verify/walk":  {imports: []string{"petri", "verify/netmodel"}},
		"verify/explore": {
			imports: []string{"petri", "verify/expr", "verify/netmodel", "verify/walk", "verify/claim", "verify/check"},
			tests:   []string{"verify/nettest"},
		},
		"verify/structure": {imports: []string{"petri", "verify/farkas", "verify/netmodel"},
			tests: []string{"verify/explore", "verify/nettest"}},
		"verify/slice": {
			imports: []string{"petri", "verify/expr", "verify/netmodel", "verify/claim", "verify/structure"},
		},
		"verify/witness": {imports: []string{"petri", "verify/netmodel", "verify/walk", "verify/claim"}},
		"verify": {
			imports: []string{"petri", "verify/expr", "verify/netmodel", "verify/claim", "verify/check", "verify/walk",
				"verify/explore", "verify/structure", "verify/slice", "verify/witness"},
			tests: []string{"verify/stateclass", "verify/nettest"},
		},
		"verify/nettest":    {imports: []string{"petri", "verify/slice"}},
		"verify/stateclass": {imports: []string{"petri", "verify", "verify/*"}},
		"verify/smt": {imports: []string{"petri", "verify", "verify/*"},
			tests: []string{"voicenets", "voicenets/claims"}},
		"verify/netfile": {imports: []string{"petri", "verify/netmodel", "verify/explore"},
			tests: []string{"verify", "verify/stateclass"}},
		"verify/monitor": {imports: []string{"petri", "verify", "verify/claim", "verify/netmodel"},
			tests: []string{"voicenets", "voicenets/claims", "petri/event"}},
		"verify/verifytest": {imports: []string{"petri", "verify"}},
		"verify/mutate":     {imports: []string{"petri", "verify", "verify/*"}, tests: []string{"voicenets"}},
	}
}

// testSupport are the folders whose packages any test may import.
func testSupport() []string {
	return []string{"agent/provider/wiretest", "audio/audiotest", "audio/audiotest/speech", "petri/petritest",
		"transport/ws/wstest", "verify/verifytest", "internal/browsertest", "internal/npmtest", "internal/endpointtest",
		"internal/clienttest",
		"internal/foreign/foreigntest"}
}

// A place says which folders a third-party module may be imported from.
type place struct {
	module  string
	folders []string // "x/*" as in layers; "x/..." is x and all below
	tests   bool     // in any test as well
}

// thirdParty holds each dependency to the package that wraps it. One that is not here must not be imported.
func thirdParty() []place {
	speakers := []string{"live", "live/sim", "transport/...", "cmd/..."}
	return []place{
		{module: "github.com/coder/websocket", folders: append(speakers, "web/webtest tests", "internal/endpointtest",
			"bench/...")},
		{module: "google.golang.org/genai", folders: []string{"live", "agent/...", "examples/...", "cmd/voicegw",
			"internal/durablebench"}, tests: true},
		{module: "google.golang.org/adk/v2", folders: []string{"agent/...", "examples/...", "internal/durablebench",
			"web/webtest tests"}},
		{module: "github.com/a2aproject/a2a-go/v2", folders: []string{"agent/adkagent tests", "agent/workflow/httpapi"}},
		{module: "github.com/modelcontextprotocol/go-sdk",
			folders: []string{"agent/adkagent tests", "agent/managed", "cmd/voicegw tests"}},
		{module: "github.com/glebarez/sqlite", folders: []string{"agent/adkagent tests"}},
		{module: "gorm.io/driver/postgres", folders: []string{"agent/adkagent tests"}},
		{module: "gorm.io/gorm", folders: []string{"agent/adkagent tests"}},
		{module: "cloud.google.com/go/auth", folders: []string{"live"}},
		{module: "github.com/gorilla/websocket", folders: []string{"live"}, tests: true}, // genai speaks through it
		{module: "github.com/spf13/cobra", folders: []string{"cmd/voicegw"}},
		{module: "go.opentelemetry.io/otel", folders: []string{"petri/event", "agent/adkagent", "telemetry"},
			tests: true},
		{module: "go.opentelemetry.io/contrib/bridges/prometheus", folders: []string{"telemetry"}},
		{module: "go.opentelemetry.io/proto/otlp", tests: true},
		{module: "google.golang.org/protobuf", folders: []string{"telemetry tests", "cmd/voicegw tests"}},
		{module: "github.com/spf13/pflag", folders: []string{"cmd/voicegw"}},
		{module: "gopkg.in/yaml.v3", folders: []string{".", "settings", "agent/managed", "agent/workflow",
			"agent/workflow/flowtest", "agent/workflow/openapi", "cmd/voicegw tests"}},
		{module: "github.com/prometheus/client_model", folders: []string{"."}, tests: true},
		// Only the parser: a Starlark program may hold any amount of memory, so agent/workflow/expr evaluates by itself.
		{module: "go.starlark.net/syntax", folders: []string{"agent/workflow/expr"}},
		{module: "github.com/theory/jsonpath", folders: []string{"agent/workflow/tools"}}, // RFC 9535
		{module: "github.com/getkin/kin-openapi/openapi3", folders: []string{"agent/workflow/openapi"}},
		{module: "github.com/jackc/pgx/v5", folders: []string{"journal/postgres", "internal/durablebench"}},
		{module: "github.com/nats-io/nats-server/v2", folders: []string{"journal/jetstream", "agent/managed/api tests"}},
		{module: "github.com/nats-io/nats.go", folders: []string{"journal/jetstream"}},
		{module: "go.uber.org/zap", folders: append(speakers, ".", "settings", "petri/event", "petri/runner", "agent",
			"agent/adkagent", "agent/calls", "agent/managed", "agent/managed/api", "agent/workflow/exec",
			"agent/workflow/httpapi", "control", "webhook", "telemetry",
			"internal/endpointtest", "internal/simulate"), tests: true},
		{module: "github.com/google/jsonschema-go", folders: []string{".", "settings tests", "agent/workflow",
			"agent/workflow/exec"}},
		{module: "github.com/prometheus/client_golang", folders: []string{".", "cmd/voicegw", "telemetry"}, tests: true},
		{module: "C", folders: []string{"verify/smt", "audio/opus"}}, // cgo, behind a build tag
		{module: "github.com/pion", folders: []string{"audio/opus", "transport/rtc", "bench/...",
			"cmd/voicegw tests"}},
		{module: "github.com/aclements/go-z3", folders: []string{"verify/smt"}},
		{module: "github.com/go-jose/go-jose/v4", folders: []string{"access"}, tests: true},
		{module: "golang.org/x/crypto/acme", folders: []string{"cmd/voicegw"}},
		{module: "golang.org/x/time", folders: []string{"access", "agent/managed"}},
		{module: "golang.org/x/sys", folders: []string{"cmd/voicegw"}},
		{module: "github.com/letsencrypt/pebble/v2", folders: []string{"internal/tools/authority"}},
		{module: "go.temporal.io", folders: []string{"internal/durablebench"}},
		{module: "helm.sh/helm/v3", folders: []string{"internal/deploycheck tests"}},
		{module: "k8s.io", folders: []string{"internal/deploycheck tests"}},
		{module: "sigs.k8s.io/yaml", folders: []string{"internal/deploycheck tests"}},
		{module: "github.com/moby/buildkit", folders: []string{"internal/deploycheck tests"}},
		{module: "github.com/letsencrypt/challtestsrv", folders: []string{"internal/tools/authority"}},
		{module: "go.uber.org/goleak", tests: true},
		{module: "github.com/google/go-cmp", tests: true},
		{module: "pgregory.net/rapid", folders: []string{"petri/petritest"}, tests: true},
		{module: "github.com/cockroachdb/datadriven", folders: []string{"petri/petritest"}, tests: true},
	}
}

func importRules() []rule {
	return []rule{
		{name: "layers", ofFile: goFiles(checkLayer)},
		{name: "third-party", ofFile: goFiles(checkThirdParty)},
	}
}

// checkLayer holds a file's imports of our own packages to layers.
func checkLayer(f *file) []string {
	own, ok := layerOf(f.dir())
	if !ok {
		return []string{f.atLine(1, "folder %s has no line in layers(): say in internal/tidy/imports_test.go what it may "+
			"import, and in docs/development.md what it is for", f.dir())}
	}
	var out []string
	for _, spec := range f.ast.Imports {
		folder, ours := ownFolder(importOf(spec))
		if !ours || matches(own.imports, folder) || f.isTest() && testMay(f, own, folder) {
			continue
		}
		out = append(out, f.at(spec, "%s must not import %s: see layers() in internal/tidy/imports_test.go", f.dir(), folder))
	}
	return out
}

// testMay tells whether a test may import what its package may not.
func testMay(f *file, own layer, folder string) bool {
	return folder == f.dir() || matches(own.tests, folder) || matches(testSupport(), folder)
}

// layerOf finds a folder's line: its own or its parent's "x/*".
func layerOf(dir string) (layer, bool) {
	all := layers()
	if l, ok := all[dir]; ok {
		return l, true
	}
	l, ok := all[path.Dir(dir)+"/*"]
	return l, ok
}

// ownFolder is the folder of one of our own packages, "." at the root.
func ownFolder(importPath string) (folder string, ours bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// matches tells whether one of the patterns names the folder.
func matches(patterns []string, folder string) bool {
	for _, p := range patterns {
		if matchesOne(p, folder) {
			return true
		}
	}
	return false
}

// matchesOne knows "x", "x/*" for what is directly in x, "x/..." for x and all below, and "..." for everything.
func matchesOne(pattern, folder string) bool {
	if pattern == folder || pattern == "..." {
		return true
	}
	if parent, ok := strings.CutSuffix(pattern, "/*"); ok {
		return path.Dir(folder) == parent
	}
	parent, ok := strings.CutSuffix(pattern, "/...")
	return ok && (folder == parent || strings.HasPrefix(folder, parent+"/"))
}

// checkThirdParty holds a file's imports of other people's modules to thirdParty.
func checkThirdParty(f *file) []string {
	var out []string
	for _, spec := range f.ast.Imports {
		importPath := importOf(spec)
		if _, ours := ownFolder(importPath); ours || isStandard(importPath) || mayImport(f, importPath) {
			continue
		}
		out = append(out, f.at(spec, "%s must not import %s: see thirdParty() in internal/tidy/imports_test.go",
			f.dir(), importPath))
	}
	return out
}

// mayImport tells whether thirdParty lets the file import the package.
func mayImport(f *file, importPath string) bool {
	for _, p := range thirdParty() {
		if !matchesOne(p.module+"/...", importPath) {
			continue
		}
		return matches(p.folders, f.dir()) || f.isTest() && (p.tests || matches(p.folders, f.dir()+" tests"))
	}
	return false
}

// isStandard tells the standard library by what the go command does: no dot in the path's first element. "C" is cgo.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") && importPath != "C"
}

func importBreaches() []breach {
	own := func(folder string) string { return "package p\nimport _ \"" + module + "/" + folder + "\"\n" }
	other := func(importPath string) string { return "package p\nimport _ \"" + importPath + "\"\n" }
	one := func(path, src string) map[string]string { return map[string]string{path: src} }
	const genai, websocket = "google.golang.org/genai", "github.com/coder/websocket"
	return []breach{
		{"unknown folder", "layers", one("engine/a.go", "package engine\n"), []string{"docs/development.md"}},
		{"unknown folder of tests", "layers", one("engine/a_test.go", "package engine\n"), []string{"layers()"}},
		{"core imports ours", "layers", one("petri/a.go", own("audio")), []string{"must not import audio"}},
		{"verify imports the runner", "layers", one("verify/a.go", own("petri/runner")), []string{"petri/runner"}},
		{"the checker imports exploration", "layers", one("verify/check/a.go", own("verify/explore")),
			[]string{"verify/explore"}},
		{"the checker imports the walker", "layers", one("verify/check/a.go", own("verify/walk")), []string{"verify/walk"}},
		{"transport imports live", "layers", one("transport/ws/a.go", own("live")), []string{"must not import live"}},
		{"live imports its double", "layers", one("live/a.go", own("live/sim")), []string{"live/sim"}},
		{"root imports the page", "layers", one("a.go", own("web")), []string{"must not import web"}},
		{"test support shipped", "layers", one("live/a.go", own("audio/audiotest")), []string{"audiotest"}},
		{"live tests its double", "layers", one("live/a_test.go", own("live/sim")), nil},
		{"double is tested by live", "layers", one("live/sim/a_test.go", own("live")), nil},
		{"transport tests live", "layers", one("transport/ws/a_test.go", own("live")), []string{"must not import live"}},
		{"tests use support", "layers", one("live/a_test.go", own("audio/audiotest")), nil},
		{"own package in its test", "layers", one("verify/a_test.go", own("verify")), nil},
		{"new transport", "layers", one("transport/rtc/a.go", own("transport")), nil},
		{"command imports the page", "layers", one("cmd/voicegw/a.go", own("web")), nil},
		{"root imports a transport", "layers", one("a.go", own("transport/ws")), nil},
		{"genai outside live", "third-party", one("live/sim/a.go", other(genai)), []string{"genai"}},
		{"genai in a test", "third-party", one("live/sim/a_test.go", other(genai)), nil},
		{"websocket at the root", "third-party", one("a.go", other(websocket)), []string{"websocket"}},
		{"websocket in the page", "third-party", one("web/a.go", other(websocket)), []string{"websocket"}},
		{"websocket in its test", "third-party", one("web/webtest/a_test.go", other(websocket)), nil},
		{"websocket's subpackage", "third-party", one("transport/ws/a.go", other(websocket+"/wsjson")), nil},
		{"zap in the core", "third-party", one("petri/a.go", other("go.uber.org/zap")), []string{"zap"}},
		{"zap below the core", "third-party", one("petri/event/a.go", other("go.uber.org/zap/zapcore")), nil},
		{"tests only", "third-party", one("web/a.go", other("pgregory.net/rapid")), []string{"rapid"}},
		{"cobra outside cmd", "third-party", one("a.go", other("github.com/spf13/cobra")), []string{"cobra"}},
		{"yaml outside cmd", "third-party", one("live/a.go", other("gopkg.in/yaml.v3")), []string{"yaml"}},
		{"unknown module", "third-party", one("live/a_test.go", other("example.com/x")), []string{"thirdParty()"}},
		{"standard library", "third-party", one("live/a.go", other("net/http")), nil},
		{"cgo", "third-party", one("audio/a.go", other("C")), []string{"must not import C"}},
	}
}
