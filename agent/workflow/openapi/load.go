package openapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/internal/spelling"
)

// Options are what an operator decides.
type Options struct {
	// Dir is the folder of documents. No document outside is read, whatever links lead there.
	Dir string
	// Client makes the requests; nil means one that reaches the public network only.
	Client *fetch.Client
	// Getenv reads an environment variable; nil means os.LookupEnv.
	Getenv func(name string) (string, bool)
	// Now is the time, for tokens that expire; nil means time.Now.
	Now func() time.Time
}

// Load makes the tools of a set, sorted by path and method. It reads the document and the environment now, and
// makes no request. name is the name of the set in errors. The tools are safe for concurrent use.
func Load(name string, cfg Config, opt Options) ([]managed.Tool, error) {
	list, err := load(cfg, opt)
	if err != nil {
		return nil, fmt.Errorf("openapi_tools.%s: %w", name, err)
	}
	return list, nil
}

func load(cfg Config, opt Options) ([]managed.Tool, error) {
	if opt.Client == nil {
		var err error
		if opt.Client, err = fetch.New(fetch.Config{}); err != nil {
			return nil, err
		}
	}
	if opt.Getenv == nil {
		opt.Getenv = os.LookupEnv
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	data, err := read(opt.Dir, cfg.Spec)
	if err != nil {
		return nil, err
	}
	doc, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Spec, err)
	}
	ops, err := operations(doc, cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Spec, err)
	}
	auth, err := newAuth(cfg.Auth, opt)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	var tools []managed.Tool
	for _, o := range ops {
		if err := auth.admits(o.base, ops[0].base); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", cfg.Spec, o.declare.Name, err)
		}
		c := &caller{o, auth, opt.Client}
		tools = append(tools, managed.Tool{Declaration: o.declare, Call: c.call,
			Idempotent: o.method == http.MethodGet || o.method == http.MethodHead})
	}
	return tools, nil
}

// read reads a document in a folder.
func read(dir, spec string) ([]byte, error) {
	if spec == "" {
		return nil, errors.New("spec is missing: the file of the OpenAPI document")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the folder of documents: %w", err)
	}
	defer func() { _ = root.Close() }()
	info, err := root.Stat(spec)
	if err != nil {
		return nil, fmt.Errorf("spec: %w; it must be a file in %s", err, dir)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("spec: %s is no file", spec)
	}
	f, err := root.Open(spec)
	if err != nil {
		return nil, fmt.Errorf("spec: %w", err)
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, documentMax+1))
}

// caller runs calls of one operation.
type caller struct {
	op     *operation
	auth   *auth
	client *fetch.Client
}

func (c *caller) call(ctx context.Context, call managed.ToolCall) (map[string]any, error) {
	result := map[string]any{}
	err := c.run(ctx, call, result)
	if err != nil {
		err = fmt.Errorf("%s: %w", c.op.declare.Name, c.auth.hide(err))
		result["status"], result["error"] = "error", err.Error()
		return result, err
	}
	result["status"] = "success"
	return result, nil
}

func (c *caller) run(ctx context.Context, call managed.ToolCall, result map[string]any) error {
	r, err := c.op.request(call.Args)
	if err != nil {
		return err
	}
	if c.op.method != http.MethodGet && c.op.method != http.MethodHead && call.Key != "" {
		r.Header.Set("Idempotency-Key", call.Key)
	}
	if err := c.auth.apply(ctx, c.client, &r); err != nil {
		return err
	}
	resp, err := c.client.Do(ctx, r)
	if err != nil {
		return err
	}
	result["status_code"] = float64(resp.Status)
	v, err := resp.Value()
	if err != nil {
		return err
	}
	result["body"] = without(c.auth.replacer(), v)
	if resp.Status == http.StatusUnauthorized {
		c.auth.forget()
	}
	if resp.Status < 200 || resp.Status > 299 {
		return fmt.Errorf("the server answered %d", resp.Status)
	}
	return nil
}

// request makes the request of a call.
func (o *operation) request(args map[string]any) (fetch.Request, error) {
	r := fetch.Request{Method: o.method, Header: http.Header{"Accept": {"application/json"}, "User-Agent": {"voicegw"}}}
	if err := o.check(args); err != nil {
		return r, err
	}
	p, query := o.path, url.Values{}
	for _, one := range o.params {
		v := args[one.name]
		if v == nil {
			continue
		}
		list, err := one.values(v)
		if err != nil {
			return r, fmt.Errorf("the argument %s: %w", one.name, err)
		}
		joined := strings.Join(list, ",")
		switch one.in {
		case "path":
			if joined == "" || slices.ContainsFunc(strings.FieldsFunc(joined, isSlash), climbs) {
				return r, fmt.Errorf("the argument %s is %q, which is no part of a path", one.name, joined)
			}
			p = strings.ReplaceAll(p, "{"+one.name+"}", url.PathEscape(joined))
		case "query":
			if !one.explode {
				list = []string{joined}
			}
			query[one.name] = list
		case "header":
			r.Header.Set(one.name, joined)
		case "cookie":
			r.Header.Add("Cookie", one.name+"="+url.QueryEscape(joined))
		}
	}
	if o.body != "" && args["body"] != nil {
		var err error
		if r.Body, err = jsonOf(args["body"]); err != nil {
			return r, err
		}
		r.Header.Set("Content-Type", o.body)
	}
	r.URL = strings.TrimSuffix(o.base.String(), "/") + p
	if len(query) > 0 {
		r.URL += "?" + query.Encode()
	}
	return r, nil
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }

// climbs reports whether a part of a path leads elsewhere, on some server: ".", "..", and these with parameters.
func climbs(part string) bool {
	name, _, _ := strings.Cut(part, ";")
	return name == "." || name == ".."
}

// check refuses arguments that are not there, and calls without those that must be.
func (o *operation) check(args map[string]any) error {
	var names []string
	for _, p := range o.params {
		names = append(names, p.name)
	}
	if o.body != "" {
		names = append(names, "body")
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		switch near := spelling.Nearest(name, names); {
		case slices.Contains(names, name):
		case near != "":
			return fmt.Errorf("there is no argument %.80q; did you mean %q?", name, near)
		default:
			return fmt.Errorf("there is no argument %.80q; they are: %s", name, strings.Join(names, ", "))
		}
	}
	for _, name := range o.required {
		if args[name] == nil {
			return fmt.Errorf("the argument %s is missing", name)
		}
	}
	return nil
}

// values are the texts of an argument: one, or one for each element of a list.
func (p param) values(v any) ([]string, error) {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	if isList && !p.list {
		return nil, errors.New("it must be one value, not a list")
	}
	texts := make([]string, 0, len(list))
	for _, one := range list {
		switch one := one.(type) {
		case string:
			texts = append(texts, one)
		case bool, float64, int, json.Number:
			b, err := json.Marshal(one)
			if err != nil {
				return nil, err
			}
			texts = append(texts, string(b))
		default:
			return nil, fmt.Errorf("it must be a text, a number or a boolean, not %T", one)
		}
	}
	return texts, nil
}

// jsonOf is a body: a value, or a text that is its JSON.
func jsonOf(v any) ([]byte, error) {
	s, ok := v.(string)
	if !ok {
		return json.Marshal(v)
	}
	var at *json.SyntaxError
	var any any
	if err := json.Unmarshal([]byte(s), &any); errors.As(err, &at) {
		return nil, fmt.Errorf("the argument body is no JSON: %w, at byte %d", err, at.Offset)
	} else if err != nil {
		return nil, fmt.Errorf("the argument body is no JSON: %w", err)
	}
	return bytes.TrimSpace([]byte(s)), nil
}
