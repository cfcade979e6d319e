package settings

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"
)

// resolved returns the schema as a validator has it.
func resolved(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var schema jsonschema.Schema
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	r, err := schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// validate validates a YAML document as an editor does.
func validate(t *testing.T, schema *jsonschema.Resolved, text string) error {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(doc) // numbers become those of JSON
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(doc)
}

// inFile writes a setting as YAML.
func inFile(key, text string) string {
	section, name, nested := strings.Cut(key, ".")
	if !nested {
		return key + ": " + text
	}
	return section + ": {" + name + ": " + text + "}"
}

// TestSchemaTakesEveryValue has a validator take what the rows say is valid: defaults, limits,
// words, lists, and keys without a value.
func TestSchemaTakesEveryValue(t *testing.T) {
	t.Parallel()
	schema := resolved(t)
	for _, r := range Rows() {
		values := append([]string{"", another(r)}, r.Words...)
		switch {
		case r.Kind == Number, r.Kind == Time:
			values = append(values, r.Min, r.Max, r.Default)
		case r.Kind == Score:
			values = append(values, r.Max, r.Default)
		case r.Kind == List && another(r) != "":
			values = append(values, "["+another(r)+"]")
		}
		for _, v := range values {
			if err := validate(t, schema, inFile(r.Key, v)); err != nil {
				t.Errorf("%s: %v", inFile(r.Key, v), err)
			}
		}
	}
	for _, text := range []string{"instructions: {default: a, b: c}", "instructions: a", "timing:\nvoice:"} {
		if err := validate(t, schema, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSchemaRefuses has a validator refuse what the decoder refuses.
func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	schema := resolved(t)
	list := []string{"listne: x", "timing: {frame_gab: 1s}", "timing: x", "doors: [webrtc]", "endpoints: [fax]",
		"timing: {frame_gap: 5 s}", "timing: {frame_gap: 5}", "voice: {a: b}", "detection: manual", "hosts: [[a]]",
		"access: {address_bytes_per_minute: 59}", "speech: {threshold: 0}", "insecure: perhaps"}
	for _, r := range Rows() {
		if r.Kind == Number {
			list = append(list, inFile(r.Key, r.Max+"0"), inFile(r.Key, "-1"), inFile(r.Key, "x"))
		}
	}
	for _, text := range list {
		if validate(t, schema, text) == nil {
			t.Errorf("the schema takes %s", text)
		}
		if _, err := configured(t, text, nil); err == nil {
			t.Errorf("the decoder takes %s", text)
		}
	}
}

// TestTimePattern compares the pattern with the decoder.
func TestTimePattern(t *testing.T) {
	t.Parallel()
	schema := resolved(t)
	for _, text := range []string{"1s", "1.5s", ".5s", "1m30s", "300ms",
		"400000µs", "1", "s", "1 s", "1s2", "0.9s1", "1d"} {
		_, err := time.ParseDuration(text)
		got := validate(t, schema, `timing: {frame_gap: "`+text+`"}`)
		if (got == nil) != (err == nil) {
			t.Errorf("%q: the schema says %v, package time %v", text, got, err)
		}
	}
}
