package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/voicegw/voicegw/internal/spelling"
)

// configBytesMax is the largest configuration file read.
const configBytesMax = 1 << 20

// readFile reads settings from a YAML file.
func (r *reader) readFile(name string) {
	root, err := parseFile(name)
	if err != nil {
		r.wrong = append(r.wrong, fmt.Errorf("configuration file %s: %w", name, err))
		return
	}
	f := &file{reader: r, name: path.Base(name), seen: map[string]int{}}
	if root != nil {
		f.section("", root)
	}
}

// parseFile returns the one document of a YAML file, nil if it is empty.
func parseFile(name string) (*yaml.Node, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err) // the message names the file already
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, configBytesMax+1))
	if err != nil {
		return nil, err
	}
	if len(b) > configBytesMax {
		return nil, fmt.Errorf("it has more than %d bytes", configBytesMax)
	}
	var doc, second yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one document; want one, without ---")
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: want keys and values, such as `listen: %s`", root.Line, ListenDefault)
	}
	return root, nil
}

// file is a YAML file being read.
type file struct {
	*reader
	name string
	seen map[string]int // the line of each key
}

// section reads the keys of a mapping below prefix, which ends with a dot or is empty.
func (f *file) section(prefix string, node *yaml.Node) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, val := node.Content[i], node.Content[i+1]
		for val.Kind == yaml.AliasNode {
			val = val.Alias
		}
		key := prefix + name.Value
		if line, twice := f.seen[key]; twice {
			f.wrong = append(f.wrong, fmt.Errorf("%s is given twice, in lines %d and %d of %s; want it once", key, line,
				name.Line, f.name))
			continue
		}
		f.seen[key] = name.Line
		f.entry(key, name, val)
	}
}

func (f *file) at(n *yaml.Node) string { return fmt.Sprintf("%s:%d", f.name, n.Line) }

// entry reads one key: a setting, a section, or a mistake. A key without a value counts as absent.
func (f *file) entry(key string, name, val *yaml.Node) {
	if val.Kind == yaml.ScalarNode && val.Tag == "!!null" && f.known(key) {
		return
	}
	if i := slices.IndexFunc(f.rows, func(r Row) bool { return r.Key == key }); i >= 0 {
		f.setting(&f.rows[i], name, val)
		return
	}
	below := f.below(key)
	switch {
	case len(below) == 0:
		f.unknown(key, value{text: val.Value, shape: shape(val)}, f.at(name), f.meant(key))
	case val.Kind == yaml.MappingNode:
		f.section(key+".", val)
	default:
		f.given[key] = value{text: val.Value, shape: shape(val), from: source{fromFile, f.at(name)}}
		f.refuse(key, "these keys below it, indented: "+strings.Join(below, ", "))
	}
}

// setting takes a value of the right shape: a scalar, or else a list for a List and a map of texts
// for instructions.
func (f *file) setting(row *Row, name, val *yaml.Node) {
	v := value{text: val.Value, from: source{fromFile, f.at(name)}}
	ok := val.Kind == yaml.ScalarNode
	switch {
	case row.Kind == List && val.Kind == yaml.SequenceNode:
		v.list, ok = scalars(val.Content)
		v.text = strings.Join(v.list, ", ")
	case row.mapped && val.Kind == yaml.MappingNode:
		var list []string
		list, ok = scalars(val.Content)
		v.texts = map[string]string{}
		for i := 0; i+1 < len(list); i += 2 {
			v.texts[list[i]] = list[i+1]
		}
	}
	if !ok {
		v.shape = shape(val)
		f.given[row.Key] = v
		f.refuse(row.Key, row.Want)
		return
	}
	f.take(row, v)
}

// scalars returns the texts of nodes, and false if one is not a scalar.
func scalars(nodes []*yaml.Node) ([]string, bool) {
	list := make([]string, 0, len(nodes))
	for _, n := range nodes {
		if n.Kind != yaml.ScalarNode {
			return nil, false
		}
		list = append(list, n.Value)
	}
	return list, true
}

// shape names what a node is in place of a value, "" if it is a value.
func shape(n *yaml.Node) string {
	switch n.Kind {
	case yaml.ScalarNode:
		return ""
	case yaml.SequenceNode:
		return "a list"
	}
	return "a section"
}

// known reports whether a key is a setting or a section.
func (f *file) known(key string) bool {
	return len(f.below(key)) > 0 || slices.ContainsFunc(f.rows, func(r Row) bool { return r.Key == key })
}

// below returns the names of the settings in a section.
func (f *file) below(section string) []string {
	var list []string
	for _, r := range f.rows {
		if name, ok := strings.CutPrefix(r.Key, section+"."); ok {
			list = append(list, name)
		}
	}
	return list
}

// meant returns the key that was meant: the keys of this name in sections, or the nearest of all
// keys and sections.
func (f *file) meant(key string) string {
	keys := f.names(func(r *Row) string { return r.Key })
	var nested []string
	for _, k := range keys {
		if strings.HasSuffix(k, "."+key) {
			nested = append(nested, k)
		}
	}
	if len(nested) > 0 {
		return orList(nested)
	}
	for _, k := range keys {
		if section, _, nested := strings.Cut(k, "."); nested && !slices.Contains(keys, section) {
			keys = append(keys, section)
		}
	}
	return spelling.Nearest(key, keys)
}
