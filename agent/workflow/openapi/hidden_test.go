package openapi

import (
	"reflect"
	"testing"
)

// TestHidden: a secret is hidden in texts and keys, also as URLs have it.
func TestHidden(t *testing.T) {
	a := &auth{}
	a.conceal("ab+cd/ef==&gh", "abc")
	got := without(a.replacer(), map[string]any{"url": "/v1?k=ab%2Bcd%2Fef%3D%3D%26gh",
		"list":          []any{"key: ab+cd/ef==&gh", 1.0},
		"ab+cd/ef==&gh": "abc"})
	want := map[string]any{"url": "/v1?k=[secret]", "list": []any{"key: [secret]", 1.0}, "[secret]": "abc"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
