package tidy

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// embedderModules are the modules that a program links which takes calls over WebSockets alone: with
// the root and transport/ws. docs/embedding.md says why each is there.
func embedderModules() []string {
	return []string{
		// the WebSocket
		"github.com/coder/websocket",
		// the log
		"go.uber.org/multierr", "go.uber.org/zap",
		// metrics
		"github.com/beorn7/perks", "github.com/cespare/xxhash/v2", "github.com/munnerz/goautoneg",
		"github.com/prometheus/client_golang", "github.com/prometheus/client_model", "github.com/prometheus/common",
		"github.com/prometheus/procfs", "go.yaml.in/yaml/v2",
		// spans: its API alone
		"go.opentelemetry.io/otel", "go.opentelemetry.io/otel/trace",
		// tools from Go functions
		"github.com/google/jsonschema-go",
		// Google's client library, for the types of messages and for live.SDK
		"cloud.google.com/go", "cloud.google.com/go/auth", "cloud.google.com/go/compute/metadata",
		"github.com/felixge/httpsnoop", "github.com/go-logr/logr", "github.com/go-logr/stdr", "github.com/google/go-cmp",
		"github.com/google/s2a-go", "github.com/googleapis/enterprise-certificate-proxy", "github.com/googleapis/gax-go/v2",
		"github.com/gorilla/websocket", "go.opentelemetry.io/auto/sdk",
		"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", "go.opentelemetry.io/otel/metric",
		"google.golang.org/api", "google.golang.org/genai", "google.golang.org/genproto/googleapis/rpc",
		"google.golang.org/grpc", "google.golang.org/protobuf",
		// of several of them
		"golang.org/x/crypto", "golang.org/x/net", "golang.org/x/sys", "golang.org/x/text",
	}
}

// TestEmbedderModules holds the list to what is linked, both ways: another module is a cost for each
// program that embeds a gateway, and one that is gone comes off the list.
func TestEmbedderModules(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", ".",
		"./transport/ws")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	slices.Sort(linked)
	linked = slices.Compact(linked)
	page, err := os.ReadFile("../../docs/embedding.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range linked {
		if !slices.Contains(embedderModules(), m) {
			t.Errorf("a program that embeds a gateway links %s too: import it in a package of its own", m)
		}
	}
	for _, m := range embedderModules() {
		if !slices.Contains(linked, m) {
			t.Errorf("a program that embeds a gateway does not link %s any more: take it off the list and the page", m)
		}
		if !strings.Contains(string(page), "`"+m+"`") {
			t.Errorf("docs/embedding.md does not name the module %s", m)
		}
	}
}

// TestEmbedderRooms: a program that embeds a gateway links no prover, no claim and no tester of
// mutants, and neither does one that only reads settings.
func TestEmbedderRooms(t *testing.T) {
	const own = "github.com/voicegw/voicegw/"
	cmd := exec.Command("go", "list", "-deps", ".", "./transport/...", "./settings", "./access")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, own+"voicenets") {
		t.Fatal("go list does not list the nets that every gateway links")
	}
	for _, p := range linked {
		p = strings.TrimPrefix(p, own)
		for _, room := range []string{"verify", "voicenets/claims", "voicenets/prove", "voicenets/mutants"} {
			if p == room || strings.HasPrefix(p, room+"/") {
				t.Errorf("a program that embeds a gateway links %s: prove nets in cmd/voicegw or in a package of your own", p)
			}
		}
	}
}
