package settings

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/voicegw/voicegw/internal/spelling"
)

// Sources are the places where settings are given. A flag wins over a variable, and a variable over
// the file.
type Sources struct {
	File    string            // the path of a YAML file; "": the one that VOICEGW_CONFIG names, or none
	Environ []string          // as os.Environ returns it
	Flags   map[string]string // the flags that were given, by Row.Flag
}

// ConfigVariable is the environment variable that names the YAML file.
const ConfigVariable = envPrefix + "CONFIG"

// Error lists everything that is wrong with a configuration.
type Error []error

// Error returns a line for a single mistake, and a line for each of several below a first one.
func (e Error) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	lines := []string{fmt.Sprintf("%d settings are wrong", len(e))}
	for _, err := range e {
		lines = append(lines, "  "+err.Error())
	}
	return strings.Join(lines, "\n")
}

// Load reads a YAML file and the environment of the process, as `voicegw serve --config file` does.
// Its error is an Error.
func Load(file string) (*Settings, error) { return Read(Sources{File: file, Environ: os.Environ()}) }

// Read reads settings from their sources and checks them together. It opens the files of keys,
// secrets, certificates and rules, and no others. Its error is an Error.
func Read(from Sources) (*Settings, error) {
	r := &reader{Settings: newSettings(), given: map[string]value{}, env: environment(from.Environ)}
	if from.File == "" {
		from.File = r.env[ConfigVariable]
	}
	if from.File != "" {
		r.readFile(from.File)
	}
	r.readEnvironment()
	for i := range r.rows {
		row := &r.rows[i]
		if text, ok := from.Flags[row.Flag()]; ok {
			r.take(row, value{text: text, from: source{fromFlag, "--" + row.Flag()}})
		}
	}
	r.readKey()
	r.readSecrets()
	r.readRules()
	r.checkTogether()
	if len(r.wrong) > 0 {
		return nil, Error(r.wrong)
	}
	r.keep()
	return r.Settings, nil
}

// Given reports whether the environment has a setting, or names a file of settings.
func Given(environ []string) bool {
	env := environment(environ)
	return env[ConfigVariable] != "" || slices.ContainsFunc(Rows(), func(r Row) bool {
		_, ok := env[r.Env()]
		return ok
	})
}

// reader reads Settings.
type reader struct {
	*Settings
	env   map[string]string
	given map[string]value // by key
	wrong []error
}

func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, e := range environ {
		name, text, _ := strings.Cut(e, "=")
		env[name] = text
	}
	return env
}

// otherVariables have our prefix and are not settings: the path of the file, a secret, the token of
// `voicegw call`, and the browser of tests.
func otherVariables() []string {
	return []string{ConfigVariable, SecretVariable, envPrefix + "CALL_TOKEN", envPrefix + "CHROMIUM"}
}

// readEnvironment takes every variable with our prefix. One that is not a setting is a mistake,
// unless Kubernetes set it.
func (r *reader) readEnvironment() {
	var names []string
	for name := range r.env {
		if strings.HasPrefix(name, envPrefix) && !slices.Contains(otherVariables(), name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		i := slices.IndexFunc(r.rows, func(row Row) bool { return row.Env() == name })
		switch {
		case serviceLink(name, r.env[name]):
		case i >= 0:
			r.take(&r.rows[i], value{text: r.env[name], from: source{fromEnvironment, name}})
		default:
			r.unknown(name, value{text: r.env[name]}, "the environment", spelling.Nearest(name, r.names((*Row).Env)))
		}
	}
}

// take stores a value, or notes that it is wrong.
func (r *reader) take(row *Row, v value) {
	ok := row.store(v)
	if row.hidden {
		v.shape = "a value not shown here"
	}
	r.given[row.Key] = v
	if ok {
		return
	}
	want := row.Want
	if now := row.oldWords[v.text]; now != "" {
		want = fmt.Sprintf("%s, the new name of %s", now, v.text)
	}
	r.refuse(row.Key, want)
}

// refuse notes that the value given for a key is wrong.
func (r *reader) refuse(key, want string) {
	v, ok := r.given[key]
	if !ok {
		v = value{text: "not set", from: source{name: "the default"}}
	}
	r.wrong = append(r.wrong, fmt.Errorf("%s is %s (from %s); want %s", key, v, v.from.name, want))
}

// String quotes a value for a message, shortened.
func (v value) String() string {
	switch {
	case v.shape != "":
		return v.shape
	case v.texts != nil:
		return "a map"
	}
	const most = 80
	if len(v.text) > most {
		return fmt.Sprintf("%q...", strings.ToValidUTF8(v.text[:most], ""))
	}
	return fmt.Sprintf("%q", v.text)
}

// unknown notes a key or variable that is not a setting; near is the name that was meant, if any.
// It shows no value that may be a secret.
func (r *reader) unknown(name string, v value, from, near string) {
	shown, advice := v.String(), "docs/configuration.md and --help list the keys"
	if secretName(name) {
		shown = "a value not shown here"
	}
	if hint := Hint(name); hint != "" {
		advice = hint
	} else if near != "" {
		advice = "did you mean " + near + "?"
	}
	r.wrong = append(r.wrong, fmt.Errorf("%s, with %s (from %s), is not a setting; %s", name, shown, from, advice))
}

// Hint explains a key, variable or flag, such as --record, that is not a setting but was one in
// earlier versions or would hold a secret. It returns "" for any other.
func Hint(name string) string {
	for _, r := range Rows() {
		switch {
		case r.oldKey == "":
		case name == r.oldKey:
			return "it is called " + r.Key + " now"
		case name == envOf(r.oldKey):
			return "it is called " + r.Env() + " now"
		case name == "--"+flagOf(r.oldKey):
			return "it is called --" + r.Flag() + " now"
		}
	}
	if secretName(name) {
		return whereSecretsBelong(name)
	}
	return ""
}

func (r *reader) names(of func(*Row) string) []string {
	var list []string
	for i := range r.rows {
		list = append(list, of(&r.rows[i]))
	}
	return list
}
