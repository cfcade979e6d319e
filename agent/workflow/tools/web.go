package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/agent/managed"
)

// web has the tools that make requests.
type web struct{ client *fetch.Client }

// methods are what http_request may ask.
func methods() []string { return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} }

// method is an argument method as HTTP spells it.
func method(v any) string {
	s, _ := v.(string)
	if s == "" {
		return "GET"
	}
	return strings.ToUpper(s)
}

func (w web) request(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
	r := fetch.Request{Method: method(c.Args["method"])}
	if !slices.Contains(methods(), r.Method) {
		return nil, fmt.Errorf("the method is %.20q; it must be one of %s", r.Method, strings.Join(methods(), ", "))
	}
	r.URL, _ = c.Args["url"].(string)
	if s, ok := c.Args["timeout"].(float64); ok {
		if !(s >= 1 && s <= 300) {
			return nil, fmt.Errorf("the timeout is %v; it must be 1 to 300 seconds", s)
		}
		r.Timeout = time.Duration(s * float64(time.Second))
	}
	var err error
	given, _ := c.Args["headers"].(map[string]any)
	if r.Header, err = headers(given); err != nil {
		return nil, err
	}
	if r.Body, err = body(c.Args["body"], r.Header); err != nil {
		return nil, err
	}
	if len(r.Body) > 0 && (r.Method == "GET" || r.Method == "HEAD") {
		return nil, fmt.Errorf("a %s request has no body; use another method, or leave body out", r.Method)
	}
	if r.Method != "GET" && r.Method != "HEAD" {
		stamp(r.Header, c)
	}
	resp, err := w.client.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	return response(resp)
}

// stamp tells a server that knows Idempotency-Key that a repeated call is the same.
func stamp(h http.Header, c managed.ToolCall) {
	if h.Get("Idempotency-Key") == "" && c.Key != "" {
		h.Set("Idempotency-Key", c.Key)
	}
}

// headers checks the headers of a request.
func headers(given map[string]any) (http.Header, error) {
	h := http.Header{"User-Agent": {"voicegw"}}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch key := http.CanonicalHeaderKey(name); key {
		case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Proxy-Authorization":
			return nil, fmt.Errorf("the header %s is not for the caller to set; leave it out", key)
		}
		switch v := given[name].(type) {
		case string:
			h.Set(name, v)
		case float64, bool:
			h.Set(name, fmt.Sprint(v))
		default:
			return nil, fmt.Errorf("the header %.80q must be a string, not %s", name, kindOf(v))
		}
	}
	return h, nil
}

// body makes the body of a request: JSON, unless the headers say another type.
func body(v any, h http.Header) ([]byte, error) {
	s, isText := v.(string)
	kind := h.Get("Content-Type")
	switch {
	case v == nil || isText && s == "":
		return nil, nil
	case isText && kind != "" && !isJSON(kind):
		return []byte(s), nil
	case isText:
		if _, err := decode("body", s); err != nil {
			return nil, fmt.Errorf("%w; a body that is no JSON needs a Content-Type in headers", err)
		}
	}
	if kind == "" {
		h.Set("Content-Type", "application/json")
	}
	if isText {
		return []byte(s), nil
	}
	return json.Marshal(v)
}

func isJSON(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// response is a response as a result.
func response(resp *fetch.Response) (map[string]any, error) {
	h := map[string]any{}
	for name, list := range resp.Header {
		h[name] = strings.Join(list, ", ")
	}
	result := map[string]any{"status_code": float64(resp.Status), "headers": h}
	v, err := resp.Value()
	if err == nil {
		result["body"] = v
	}
	return result, err
}

func (w web) alert(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
	msg, _ := c.Args["message"].(string)
	b, err := json.Marshal(map[string]string{"message": msg})
	if err != nil {
		return nil, err
	}
	h := http.Header{"Content-Type": {"application/json"}, "User-Agent": {"voicegw"}}
	stamp(h, c)
	url, _ := c.Args["webhook_url"].(string)
	// A redirect would make a GET of it, whose 200 does not mean that the message arrived.
	resp, err := w.client.Do(ctx, fetch.Request{Method: "POST", URL: url, Header: h, Body: b, Stay: true})
	if err != nil {
		return map[string]any{"sent": false}, err
	}
	result := map[string]any{"status_code": float64(resp.Status), "sent": resp.Status/100 == 2}
	if resp.Status/100 != 2 {
		return result, errors.New("the webhook answered " + fmt.Sprint(resp.Status) + ", so the message counts as not sent")
	}
	return result, nil
}
