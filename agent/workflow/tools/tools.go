package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/genai"

	"github.com/voicegw/voicegw/agent/fetch"
	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/internal/spelling"
)

// Config configures the tools. The zero value works.
type Config struct {
	// Client makes the requests of http_request and alert; nil means one that reaches the public network only.
	Client *fetch.Client
	// Folder is where storage keeps files; without it there is no tool storage.
	Folder *Folder
}

// New makes the tools. They are safe for concurrent use.
func New(cfg Config) ([]managed.Tool, error) {
	if cfg.Client == nil {
		var err error
		if cfg.Client, err = fetch.New(fetch.Config{}); err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
	}
	w := web{cfg.Client}
	list := []managed.Tool{
		tool("http_request", "Makes an HTTP request. Returns status_code, headers and body, which is a value if it is JSON "+
			"and text if not.", w.request, arg{"url", text, true, "an http or https URL"},
			arg{"method", text, false, "GET by default"}, arg{"headers", object, false, "headers of the request, by name"},
			arg{"body", anything, false, "the body: JSON, or text with a Content-Type in headers"},
			arg{"timeout", number, false, "seconds, 1 to 300; 30 by default"}),
		tool("transform", "Selects from JSON with a JSONPath (RFC 9535). Returns result (null if nothing "+
			"matches, the value of "+
			"a single match, a list of several) and count.", transform, arg{"input_data", anything, true, "the JSON"},
			arg{"expression", text, true, "such as $.items[?@.price > 10].name"}),
		tool("condition", "Decides whether an expression holds, in the syntax of Python. Returns result, true or false.",
			condition, arg{"expression", text, true, "such as total > 100 and currency == 'EUR'"},
			arg{"values", object, false, "what the names in the expression stand for"}),
		tool("alert", "Posts a message to a webhook as {\"message\": ...}. Returns sent, which only a 2xx "+
			"response makes true, "+
			"and status_code.", w.alert, arg{"webhook_url", text, true, "an http or https URL"},
			arg{"message", text, true, "the message"}),
	}
	list[0].Repeats = func(args map[string]any) bool { m := method(args["method"]); return m == "GET" || m == "HEAD" }
	list[1].Idempotent, list[2].Idempotent = true, true
	if cfg.Folder == nil {
		return list, nil
	}
	store := tool("storage", "Reads and writes files of text. read returns content; write replaces a file, "+
		"append adds to it.",
		cfg.Folder.call, arg{"path", text, true, "of the file, such as reports/today.md"},
		arg{"action", text, true, "read, write or append"}, arg{"data", anything, false, "what to write"})
	store.Repeats = func(args map[string]any) bool { return args["action"] == "read" }
	return append(list, store), nil
}

// arg is an argument of a tool.
type arg struct {
	name, kind string
	required   bool
	doc        string
}

// Kinds of arguments, as JSON Schema calls them.
const (
	text     = "string"
	number   = "number"
	object   = "object" // or its JSON in a string
	anything = ""
)

// tool makes a tool whose arguments are checked before it runs.
func tool(name, doc string, run func(context.Context, managed.ToolCall) (map[string]any, error),
	args ...arg) managed.Tool {
	props, required, names := map[string]any{}, []any{}, []string{}
	for _, a := range args {
		p := map[string]any{"description": a.doc}
		if a.kind != anything {
			p["type"] = a.kind
		}
		props[a.name] = p
		names = append(names, a.name)
		if a.required {
			required = append(required, a.name)
		}
	}
	return managed.Tool{
		Declaration: &genai.FunctionDeclaration{Name: name, Description: doc, ParametersJsonSchema: map[string]any{
			"type": "object", "properties": props, "required": required}},
		Call: func(ctx context.Context, c managed.ToolCall) (map[string]any, error) {
			checked, err := check(args, names, c.Args)
			result := map[string]any{}
			if err == nil {
				c.Args = checked
				result, err = run(ctx, c)
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", name, err)
				if result == nil {
					result = map[string]any{}
				}
				result["status"], result["error"] = "error", err.Error()
				return result, err
			}
			result["status"] = "success"
			return result, nil
		}}
}

// check copies arguments of the right kinds; null is none.
func check(args []arg, names []string, given map[string]any) (map[string]any, error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch near := spelling.Nearest(name, names); {
		case slices.Contains(names, name):
		case name == "allow_private":
			return nil, errors.New("there is no argument allow_private: only the operator allows private addresses")
		case near != "":
			return nil, fmt.Errorf("there is no argument %q; did you mean %q?", name, near)
		default:
			return nil, fmt.Errorf("there is no argument %.80q; they are: %s", name, strings.Join(names, ", "))
		}
	}
	out := map[string]any{}
	for _, a := range args {
		v := given[a.name]
		if v == nil {
			if a.required && a.kind != anything {
				return nil, fmt.Errorf("the argument %s is missing: %s", a.name, a.doc)
			}
			continue
		}
		var err error
		switch a.kind {
		case text:
			if _, ok := v.(string); !ok {
				err = fmt.Errorf("the argument %s must be a string, not %T", a.name, v)
			}
		case number:
			v, err = toNumber(a.name, v)
		case object:
			v, err = toObject(a.name, v)
		}
		if err != nil {
			return nil, err
		}
		out[a.name] = v
	}
	return out, nil
}

// toNumber takes a number, or a string with one, as templates make it.
func toNumber(name string, v any) (any, error) {
	switch n := v.(type) {
	case float64:
		return n, nil
	case int:
		return float64(n), nil
	case string:
		var f float64
		if json.Unmarshal([]byte(n), &f) == nil && !math.IsNaN(f) {
			return f, nil
		}
	}
	return nil, fmt.Errorf("the argument %s must be a number, not %.40q", name, fmt.Sprint(v))
}

// toObject takes an object, or a string with its JSON; "" is an empty one.
func toObject(name string, v any) (any, error) {
	if s, ok := v.(string); ok {
		if strings.TrimSpace(s) == "" {
			return map[string]any{}, nil
		}
		var err error
		if v, err = decode(name, s); err != nil {
			return nil, err
		}
	}
	if d, ok := v.(map[string]any); ok {
		return d, nil
	}
	return nil, fmt.Errorf("the argument %s must be an object or its JSON, not %s", name, kindOf(v))
}

// decode reads JSON and says where it is wrong.
func decode(name, s string) (v any, err error) {
	err = json.Unmarshal([]byte(s), &v)
	var at *json.SyntaxError
	if errors.As(err, &at) {
		end := min(max(int(at.Offset), 0), len(s))
		return nil, fmt.Errorf("the argument %s is no JSON: %w, at byte %d, behind %q", name, err, at.Offset,
			s[max(0, end-20):end])
	}
	if err != nil {
		return nil, fmt.Errorf("the argument %s is no JSON: %w", name, err)
	}
	return v, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("a %T", v)
}
