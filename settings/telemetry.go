package settings

import (
	"cmp"
	"fmt"
	"strings"
)

// Telemetry says what is exported by OTLP, and where to.
type Telemetry struct {
	Traces, Metrics bool
	Endpoint        string // an http or https URL
	HeadersFile     string // "": those of the environment
	Content         bool   // traces hold what was said
}

// On reports whether anything is exported.
func (t *Telemetry) On() bool { return t.Traces || t.Metrics }

// Variables of OpenTelemetry that say where to export. The others are read by its SDK.
const (
	otlpEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
	otlpDefault  = "http://127.0.0.1:4318"
)

func (s *Settings) telemetryRows() []Row {
	t := &s.Telemetry
	rows := []Row{
		textRow("otel.endpoint", &t.Endpoint, otlpEndpoint+", or "+otlpDefault, "an http or https URL such as "+otlpDefault,
			"the backend that gets traces and metrics by OTLP over HTTP, at /v1/traces and /v1/metrics below it", isHTTP),
		fileRow("otel.headers_file", &t.HeadersFile, "none",
			"a file with a header in each line, such as Authorization: Bearer TOKEN",
			"headers of the requests to the backend, in place of OTEL_EXPORTER_OTLP_HEADERS"),
		onRow("otel.content", &t.Content,
			"traces hold what was said, and what functions were asked and answered"),
	}
	for i := range rows {
		rows[i] = rows[i].onlyIf(t.On, "otel.export is none")
	}
	export := wordRow("otel.export", "none", "what is exported to an OpenTelemetry backend (see docs/metrics.md)",
		[]string{"none", "traces", "metrics", "both"}, func(i int) { t.Traces, t.Metrics = i == 1 || i == 3, i >= 2 })
	return append([]Row{export}, rows...)
}

// checkTelemetry finds the backend if the settings do not name it. Without otel.export it looks at no
// variable: others may set those for every container of a cluster.
func (r *reader) checkTelemetry() {
	t := &r.Telemetry
	if !t.On() || t.Endpoint != "" {
		return
	}
	url, protocol := r.env[otlpEndpoint], r.env[otlpProtocol]
	switch {
	case url != "" && protocol != "" && protocol != "http/protobuf":
		r.refuse("otel.export", fmt.Sprintf("otel.endpoint beside it: %s is %.20q, and voicegw speaks http/protobuf",
			otlpProtocol, protocol))
	case !isHTTP(url):
		r.refuse("otel.export", "otel.endpoint beside it: "+otlpEndpoint+" is not an http or https URL")
	default:
		t.Endpoint = cmp.Or(url, otlpDefault)
	}
}

// Headers reads the headers of requests to the backend, nil if there is no file of them.
func (t *Telemetry) Headers(s *Settings) (map[string]string, error) {
	text, err := s.Secret("otel.headers_file", t.HeadersFile)
	if err != nil || text == "" {
		return nil, err
	}
	list := map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("otel.headers_file: line %d of %s is no header; want NAME: VALUE", n, t.HeadersFile)
		}
		list[name] = strings.TrimSpace(value)
	}
	return list, nil
}
