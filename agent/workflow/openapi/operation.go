package openapi

import (
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/fetch"
)

// Limits of a set of tools.
const (
	toolsMax       = 128
	nameMax        = 64
	descriptionMax = 1024 // bytes
)

// operation is an operation that is a tool.
type operation struct {
	declare  *genai.FunctionDeclaration
	method   string
	base     *url.URL
	path     string // with templates
	params   []param
	body     string // its content type; "" without a body
	required []string
}

// param is a parameter of an operation.
type param struct {
	name, in string
	list     bool // an array
	explode  bool
}

// operations makes the operations of a document that a filter selects, sorted by path and method.
func operations(doc *openapi3.T, cfg Config) ([]*operation, error) {
	var list []*operation
	names, used := map[string]string{}, make([]bool, len(cfg.ToolFilter))
	paths := doc.Paths.Map()
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		ops := paths[p].Operations()
		for _, method := range slices.Sorted(maps.Keys(ops)) {
			id := operationID(ops[method], method, p)
			take, err := selected(cfg.ToolFilter, id, used)
			if err != nil {
				return nil, err
			}
			if !take {
				continue
			}
			o := &operation{method: method, path: p}
			if err := o.fill(doc, paths[p], ops[method], cfg, id); err != nil {
				return nil, fmt.Errorf("%s %s (%s): %w", method, p, id, err)
			}
			if other := names[o.declare.Name]; other != "" {
				return nil, fmt.Errorf("the operations %s and %s %s would both be the tool %q", other, method, p, o.declare.Name)
			}
			names[o.declare.Name] = method + " " + p
			list = append(list, o)
		}
	}
	if i := slices.Index(used, false); i >= 0 {
		return nil, fmt.Errorf("the pattern %q of tool_filter selects no operation", cfg.ToolFilter[i])
	}
	if len(list) == 0 || len(list) > toolsMax {
		return nil, fmt.Errorf("it has %d operations; it must have 1 to %d: select some with tool_filter",
			len(list), toolsMax)
	}
	return list, nil
}

var noName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// operationID is the id of an operation, or one of its method and path.
func operationID(op *openapi3.Operation, method, p string) string {
	if op.OperationID != "" {
		return op.OperationID
	}
	return strings.Trim(noName.ReplaceAllString(strings.ToLower(method)+p, "_"), "_")
}

// selected reports whether a filter selects an operation, and notes the patterns that match.
func selected(filter []string, id string, used []bool) (bool, error) {
	take, any := false, false
	for i, pattern := range filter {
		pattern, out := strings.CutPrefix(pattern, "!")
		ok, err := path.Match(pattern, id)
		if err != nil {
			return false, fmt.Errorf("the pattern %q of tool_filter is wrong: %w", filter[i], err)
		}
		used[i] = used[i] || ok
		if ok && out {
			take, any = false, true
			break
		}
		take, any = take || ok, any || !out
	}
	return take || !any && !slices.ContainsFunc(filter, func(s string) bool { return !strings.HasPrefix(s, "!") }), nil
}

func (o *operation) fill(doc *openapi3.T, item *openapi3.PathItem, op *openapi3.Operation, cfg Config,
	id string) error {
	name := noName.ReplaceAllString(cfg.NamePrefix+id, "_")
	if len(name) > nameMax {
		return fmt.Errorf("the name %q has %d characters; at most %d are allowed", name, len(name), nameMax)
	}
	in, props := &inliner{doc: doc}, map[string]any{}
	for _, p := range merged(item.Parameters, op.Parameters) {
		if err := o.param(in, p, props); err != nil {
			return fmt.Errorf("%s parameter %q: %w", p.In, p.Name, err)
		}
	}
	if op.RequestBody != nil {
		if err := o.requestBody(in, op.RequestBody.Value, props); err != nil {
			return err
		}
	}
	words := strings.TrimSpace(op.Summary + "\n" + op.Description)
	if words == "" {
		words = o.method + " " + o.path
	}
	if len(words) > descriptionMax {
		words = strings.ToValidUTF8(words[:descriptionMax], "")
	}
	o.declare = &genai.FunctionDeclaration{Name: name, Description: words, ParametersJsonSchema: map[string]any{
		"type": "object", "properties": props, "required": o.required}}
	return o.server(doc, item, op, cfg)
}

// merged are the parameters of an operation: its own, and those of its path that it does not replace.
func merged(shared, own openapi3.Parameters) []*openapi3.Parameter {
	var list []*openapi3.Parameter
	for _, p := range slices.Concat(own, shared) {
		if !slices.ContainsFunc(list, func(q *openapi3.Parameter) bool {
			return q.Name == p.Value.Name &&
				q.In == p.Value.In
		}) {
			list = append(list, p.Value)
		}
	}
	return list
}

// styles are the styles that are supported, the first one being the default.
func styles() map[string]string {
	return map[string]string{"path": "simple", "header": "simple", "query": "form", "cookie": "form"}
}

func (o *operation) param(in *inliner, p *openapi3.Parameter, props map[string]any) error {
	if p.In == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.Name)) {
		return nil // OpenAPI 3.0.3 section 4.7.12.1: it has no meaning
	}
	style := styles()[p.In]
	switch {
	case style == "":
		return fmt.Errorf("parameters in %q are not supported", p.In)
	case p.Style != "" && p.Style != style:
		return fmt.Errorf("the style %s is not supported, only %s; leave the operation out with tool_filter", p.Style, style)
	case p.Schema == nil || len(p.Content) > 0:
		return errors.New("a parameter with content is not supported, only one with a schema")
	case props[p.Name] != nil:
		return errors.New("another parameter has this name")
	}
	s, err := in.schema(p.Schema)
	if err != nil {
		return err
	}
	t := p.Schema.Value.Type
	if t.Includes("object") || len(p.Schema.Value.Properties) > 0 {
		return errors.New("an object as a parameter is not supported; leave the operation out with tool_filter")
	}
	if p.Description != "" {
		s["description"] = strings.ToValidUTF8(p.Description[:min(len(p.Description), descriptionMax)], "")
	}
	props[p.Name] = s
	if p.Required || p.In == "path" {
		o.required = append(o.required, p.Name)
	}
	explode := p.In == "query"
	if p.Explode != nil {
		explode = *p.Explode
	}
	o.params = append(o.params, param{name: p.Name, in: p.In, list: t.Includes("array"), explode: explode})
	return nil
}

func (o *operation) requestBody(in *inliner, b *openapi3.RequestBody, props map[string]any) error {
	types := slices.Sorted(maps.Keys(b.Content))
	i := slices.IndexFunc(types, isJSON)
	switch {
	case len(types) == 0:
		return nil
	case i < 0:
		return fmt.Errorf("a body of %s is not supported, only JSON; leave the operation out with tool_filter",
			strings.Join(types, ", "))
	case props["body"] != nil:
		return errors.New("it has a parameter named body, beside a body")
	}
	if b.Content[types[i]] == nil {
		return fmt.Errorf("the body of %s is null", types[i])
	}
	s, err := in.schema(b.Content[types[i]].Schema)
	if err != nil {
		return fmt.Errorf("the body: %w", err)
	}
	props["body"], o.body = s, types[i]
	if b.Required {
		o.required = append(o.required, "body")
	}
	return nil
}

func isJSON(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

// server finds the base URL of an operation.
func (o *operation) server(doc *openapi3.T, item *openapi3.PathItem, op *openapi3.Operation, cfg Config) (err error) {
	list := doc.Servers
	if len(item.Servers) > 0 {
		list = item.Servers
	}
	if op.Servers != nil && len(*op.Servers) > 0 {
		list = *op.Servers
	}
	base := cfg.Server
	if base == "" && len(list) > 0 {
		base = list[0].URL
		for name, v := range list[0].Variables {
			base = strings.ReplaceAll(base, "{"+name+"}", v.Default)
		}
	}
	if o.base, err = fetch.CheckURL(base); err != nil {
		return fmt.Errorf("the server %.80q: %w; set server to the base URL of the API", base, err)
	}
	if o.base.RawQuery != "" || o.base.Fragment != "" {
		return fmt.Errorf("the server %.80q must be a base URL without a query; set server", base)
	}
	return nil
}
