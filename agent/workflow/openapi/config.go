package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/internal/spelling"
)

// Config is a set of tools: an entry of openapi_tools.
type Config struct {
	// Spec is the file of the document, in Options.Dir.
	Spec string `yaml:"spec"`
	// NamePrefix is put in front of the names of operations.
	NamePrefix string `yaml:"name_prefix"`
	// ToolFilter are patterns of operation ids, such as "list*"; one with "!" in front leaves operations out. None
	// means all.
	ToolFilter []string `yaml:"tool_filter"`
	// Server is the base URL, instead of the first one of the document.
	Server string `yaml:"server"`
	Auth   Auth   `yaml:"auth"`
}

// Auth is how requests are authorized. Names that end in Env are of environment variables.
type Auth struct {
	// Type is none (the default), bearer, apikey, oauth2 (client credentials) or service_account.
	Type string `yaml:"type"`
	// TokenEnv has the token of bearer, or the key of apikey.
	TokenEnv string `yaml:"token_env"`
	// APIKeyLocation is header (the default) or query; APIKeyName is the name there.
	APIKeyLocation string `yaml:"apikey_location"`
	APIKeyName     string `yaml:"apikey_name"`
	// Of oauth2.
	TokenURL        string `yaml:"token_url"`
	ClientIDEnv     string `yaml:"client_id_env"`
	ClientSecretEnv string `yaml:"client_secret_env"`
	Scopes          Scopes `yaml:"scopes"`
	// ServiceAccountEnv has the JSON key of a service account.
	ServiceAccountEnv    string `yaml:"service_account_env"`
	ServiceAccountScopes Scopes `yaml:"service_account_scopes"`
}

// Scopes are scopes of OAuth 2: in YAML a list, or a mapping of scopes to descriptions.
type Scopes []string

// UnmarshalYAML reads both forms.
func (s *Scopes) UnmarshalYAML(n *yaml.Node) error {
	*s = nil
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			*s = append(*s, n.Content[i].Value)
		}
		return nil
	}
	return n.Decode((*[]string)(s))
}

// configMax is the largest configuration, in bytes.
const configMax = 1 << 20

// Parse reads the sets of tools, by name, from a file that has openapi_tools and nothing else. An error names file,
// line and column.
func Parse(file string, data []byte) (map[string]Config, error) {
	if len(data) > configMax {
		return nil, fmt.Errorf("%s: it has %d bytes; at most %d are allowed", file, len(data), configMax)
	}
	var doc yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: it is empty; write openapi_tools", file)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var all struct {
		Sets map[string]Config `yaml:"openapi_tools"`
	}
	if n, err := strict(doc.Content[0], reflect.TypeOf(all)); err != nil {
		return nil, fmt.Errorf("%s:%d:%d: %w", file, n.Line, n.Column, err)
	}
	if err := doc.Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %s", file, strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "yaml: ")), " "))
	}
	return all.Sets, nil
}

// strict finds a node that does not fit a type: a key that it does not have, or a value of another kind.
func strict(n *yaml.Node, t reflect.Type) (*yaml.Node, error) {
	switch {
	case n.Kind == yaml.AliasNode:
		return n, errors.New("aliases are not supported here; write the value again")
	case n.Tag == "!!null":
		return n, nil
	case t == reflect.TypeFor[Scopes]():
		if n.Kind == yaml.ScalarNode {
			return n, errors.New("it must be a list of scopes, or a mapping of scopes to descriptions")
		}
		return n, nil
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for _, one := range n.Content {
			if at, err := strict(one, t.Elem()); err != nil {
				return at, err
			}
		}
		return n, nil
	case t.Kind() == reflect.String && n.Kind == yaml.ScalarNode:
		return n, nil
	case n.Kind != yaml.MappingNode || t.Kind() != reflect.Map && t.Kind() != reflect.Struct:
		kinds := map[reflect.Kind]string{reflect.Slice: "a list", reflect.String: "a text"}
		want := kinds[t.Kind()]
		if want == "" {
			want = "a mapping"
		}
		return n, fmt.Errorf("it must be %s", want)
	}
	fields := map[string]reflect.Type{}
	var names []string
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		name := t.Field(i).Tag.Get("yaml")
		fields[name], names = t.Field(i).Type, append(names, name)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		of, ok := fields[key.Value]
		if t.Kind() == reflect.Map {
			of, ok = t.Elem(), true
		}
		near := spelling.Nearest(key.Value, names)
		switch {
		case seen[key.Value]:
			return key, fmt.Errorf("`%s` is there twice", key.Value)
		case !ok && near != "":
			return key, fmt.Errorf("there is no key `%s`; did you mean `%s`?", key.Value, near)
		case !ok:
			return key, fmt.Errorf("there is no key `%s`; the keys are: %s", key.Value, strings.Join(names, ", "))
		}
		seen[key.Value] = true
		if v := n.Content[i+1]; key.Value == "tool_filter" && v.Kind == yaml.ScalarNode && v.Tag != "!!null" {
			return v, fmt.Errorf("`tool_filter`: it must be a list of patterns of operation ids, such as [\"get*\", "+
				"\"!getSecret\"], and is %.100q; a function of Python, which PyFlow takes, cannot be called here", v.Value)
		}
		if at, err := strict(n.Content[i+1], of); err != nil {
			return at, fmt.Errorf("`%s`: %w", key.Value, err)
		}
	}
	return n, nil
}
