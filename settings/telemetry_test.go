package settings

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestTelemetry finds the backend: that of the settings, that of OpenTelemetry's variable, or the one on this machine.
// What a cluster sets for every container counts only if something is exported.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	const cluster, gRPC = "OTEL_EXPORTER_OTLP_ENDPOINT=http://10.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"
	both := []string{"--otel-export=both"}
	for name, tt := range map[string]struct {
		env  []string
		args []string
		want string // the endpoint, or words of the error
	}{
		"none":     {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=tcp://10.0.0.1:80", gRPC}, nil, ""},
		"here":     {nil, []string{"--otel-export=traces"}, "http://127.0.0.1:4318"},
		"variable": {[]string{cluster}, []string{"--otel-export=metrics"}, "http://10.0.0.1:4317"},
		"variable, HTTP": {[]string{cluster, "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"}, both,
			"http://10.0.0.1:4317"},
		"setting": {[]string{cluster, gRPC}, append(both[:1:1], "--otel-endpoint=https://a.example"),
			"https://a.example"},
		"service link":   {[]string{"VOICEGW_OTEL_PORT=tcp://10.0.0.1:80"}, nil, ""},
		"variable, gRPC": {[]string{cluster, gRPC}, both, "error: voicegw speaks http/protobuf"},
		"variable, no URL": {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=10.0.0.1:4318"}, both,
			"error: is not an http or https URL"},
		"setting, no URL": {nil, append(both[:1:1], "--otel-endpoint=10.0.0.1:4318"), "error: otel.endpoint"},
	} {
		s, err := configured(t, "", tt.env, tt.args...)
		words, refused := strings.CutPrefix(tt.want, "error: ")
		switch {
		case refused:
			if err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v, want %q", name, err, words)
			}
		case err != nil || s.Telemetry.Endpoint != tt.want:
			t.Errorf("%s: %v, %+v, want %q", name, err, s, tt.want)
		}
	}
}

// TestTelemetryHeaders reads headers, and refuses lines that are none without showing them.
func TestTelemetryHeaders(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{
		"Authorization: Bearer a:b\n\n  X-Key:17  \n": {"Authorization": "Bearer a:b", "X-Key": "17"},
		"Authorization Bearer a\n":                    nil, ": x\n": nil, "a b: c\n": nil,
	} {
		file := filepath.Join(t.TempDir(), "headers")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := (&Telemetry{HeadersFile: file}).Headers(&Settings{})
		if (err == nil) != (want != nil) || want != nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), "Bearer") || !strings.Contains(err.Error(), "line 1 of ")) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
