package tools

import (
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestRequest(t *testing.T) {
	var got *http.Request
	var sent string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got, sent = r, string(b)
		w.Header().Set("X-Answer", "yes")
		switch r.URL.Path {
		case "/html":
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("<html>{not json}</html>"))
		case "/binary":
			_, _ = w.Write([]byte{0xff, 0xfe, 0})
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		default:
			_, _ = w.Write([]byte(`{"a": [1, null]}`))
		}
	})
	k := newKit(t, Config{})
	r := k.call(t, "http_request", map[string]any{"url": url})
	if r["status"] != "success" || r["status_code"] != 200.0 || r["headers"].(map[string]any)["X-Answer"] != "yes" ||
		!reflect.DeepEqual(r["body"], map[string]any{"a": []any{1.0, nil}}) || got.Method != "GET" ||
		got.Header.Get("Idempotency-Key") != "" {
		t.Errorf("%v", r)
	}
	if r = k.call(t, "http_request", map[string]any{"url": url + "/html"}); r["body"] != "<html>{not json}</html>" {
		t.Errorf("HTML is %v", r)
	}
	if r = k.call(t, "http_request", map[string]any{"url": url + "/missing", "timeout": "5"}); r["status_code"] != 404.0 ||
		r["status"] != "success" || r["body"] != "" {
		t.Errorf("a missing page is %v", r)
	}
	k.fails(t, "http_request", map[string]any{"url": url + "/binary"}, "the body is no text: it has 3 bytes")
	for _, body := range []any{`{"x": 1}`, map[string]any{"x": 1.0}} {
		for _, headers := range []any{`{"X-One": "1"}`, map[string]any{"X-One": 1.0}} {
			k.call(t, "http_request", map[string]any{"url": url, "method": "post", "headers": headers, "body": body})
			if got.Method != "POST" || strings.ReplaceAll(sent, " ", "") != `{"x":1}` || got.Header.Get("X-One") != "1" ||
				got.Header.Get("Content-Type") != "application/json" || got.Header.Get("Idempotency-Key") != "key 1" {
				t.Errorf("%v sends %s with %v", body, sent, got.Header)
			}
		}
	}
	k.call(t, "http_request", map[string]any{"url": url, "method": "PUT", "body": "a=b", "headers": map[string]any{
		"content-type": "application/x-www-form-urlencoded", "idempotency-key": "mine"}})
	if sent != "a=b" || got.Header.Get("Idempotency-Key") != "mine" {
		t.Errorf("it sends %s with %v", sent, got.Header)
	}
}

func TestRequestRefuses(t *testing.T) {
	k := newKit(t, Config{})
	const url = "http://127.0.0.1:1/"
	for want, args := range map[string]map[string]any{
		"the argument url is missing":              {},
		"the argument url must be a string":        {"url": 1.0},
		"only the operator allows private":         {"url": url, "allow_private": true},
		`did you mean "timeout"`:                   {"url": url, "timout": 1.0},
		"no argument \"x\"; they are: url, method": {"url": url, "x": 1.0},
		"headers is no JSON: invalid character 'x' looking for beginning of value, at byte 7, behind \"{\\\"a\\\": x\"": {
			"url": url, "headers": `{"a": x}`},
		"headers must be an object or its JSON, not a list": {"url": url, "headers": `[1]`},
		"the header \"A\" must be a string, not an object":  {"url": url, "headers": map[string]any{"A": map[string]any{}}},
		"the header Host is not for the caller":             {"url": url, "headers": `{"host": "x"}`},
		"a body that is no JSON needs a Content-Type":       {"url": url, "method": "POST", "body": "{"},
		"a GET request has no body":                         {"url": url, "body": "{}"},
		`the method is "TRACE"`:                             {"url": url, "method": "trace"},
		"the timeout is 301":                                {"url": url, "timeout": 301.0},
		"the timeout is 0.5":                                {"url": url, "timeout": 0.5},
		"timeout must be a number":                          {"url": url, "timeout": "NaN"},
		"127.0.0.0/8 (this machine)":                        {"url": "http://127.0.0.2/"},
		"169.254.169.254 is private":                        {"url": "http://169.254.169.254/latest/meta-data"},
		`scheme of the URL is "file"`:                       {"url": "file:///etc/passwd"},
	} {
		k.fails(t, "http_request", args, want)
	}
}

func TestAlert(t *testing.T) {
	status, sent := http.StatusNoContent, ""
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = r.Method + " " + r.URL.Path + " " + r.Header.Get("Idempotency-Key") + " " + string(b)
		switch {
		case r.URL.Path == "/ok": // behind the redirect
		case status == http.StatusFound:
			http.Redirect(w, r, "/ok", status)
		default:
			w.WriteHeader(status)
		}
	})
	k := newKit(t, Config{})
	args := map[string]any{"webhook_url": url + "/hook", "message": "Größe \"5\""}
	if r := k.call(t, "alert", args); r["sent"] != true || r["status_code"] != 204.0 ||
		sent != `POST /hook key 1 {"message":"Größe \"5\""}` {
		t.Errorf("%v after %s", r, sent)
	}
	for _, status = range []int{302, 400, 404, 500} {
		if r := k.call(t, "alert", args); r["sent"] != false || r["status"] != "error" ||
			r["status_code"] != float64(status) {
			t.Errorf("%d: %v", status, r)
		}
	}
	if r := k.call(t, "alert", map[string]any{"webhook_url": "http://10.0.0.1/", "message": "x"}); r["sent"] != false ||
		!strings.Contains(r["error"].(string), "10.0.0.0/8") {
		t.Errorf("%v", r)
	}
}

// TestRepeats holds tools to what they say of a call that is repeated.
func TestRepeats(t *testing.T) {
	k := newKit(t, folder(t, t.TempDir(), 0))
	http, storage := k["http_request"], k["storage"]
	for m, want := range map[string]bool{"": true, "GET": true, "head": true, "POST": false, "PUT": false,
		"DELETE": false} {
		if http.Repeats(map[string]any{"method": m}) != want {
			t.Errorf("%q: repeated is not %t", m, want)
		}
	}
	for action, want := range map[string]bool{"read": true, "write": false, "append": false, "": false} {
		if storage.Repeats(map[string]any{"action": action}) != want {
			t.Errorf("%q: repeated is not %t", action, want)
		}
	}
	if !k["transform"].Idempotent || !k["condition"].Idempotent || k["alert"].Idempotent || k["alert"].Repeats != nil {
		t.Error("a computation has an effect, or an alert has none")
	}
}
