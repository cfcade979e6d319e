package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// configuration is what was given for the settings, from all sources.
type configuration struct {
	table []setting
	given map[string]value // by key
	wrong []error
}

// configError lists everything that is wrong with a configuration.
type configError []error

// Error is one line for one mistake, and one for each of several.
func (e configError) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	lines := []string{fmt.Sprintf("%d settings are wrong", len(e))}
	for _, err := range e {
		lines = append(lines, "  "+err.Error())
	}
	return strings.Join(lines, "\n")
}

// whereKeysBelong is said to who put a key where many can read it.
const whereKeysBelong = "an API key goes into the environment variable GEMINI_API_KEY, or into a file named by " +
	"model.key_file"

// addSettingFlags gives cmd a flag for each setting. Their values are kept as text until configure reads them.
func addSettingFlags(cmd *cobra.Command) { addFlags(cmd, settings()) }

// addFlags gives cmd flags for some settings and for the file.
func addFlags(cmd *cobra.Command, some []setting) {
	for _, s := range some {
		f := cmd.Flags().VarPF(&textFlag{kind: s.kind}, s.flag(), "", fmt.Sprintf("%s (default %s)", s.doc, s.def))
		if s.kind == "bool" {
			f.NoOptDefVal = "true"
		}
	}
	cmd.Flags().Var(&textFlag{kind: "file"}, "config", "a YAML file with settings (environment: "+envPrefix+"CONFIG)")
	cmd.Flags().SortFlags = false
}

// textFlag is a flag's value as it was typed.
type textFlag struct{ kind, text string }

// String is the text.
func (f *textFlag) String() string { return f.text }

// Set keeps the text.
func (f *textFlag) Set(s string) error { f.text = s; return nil }

// Type is a word for --help.
func (f *textFlag) Type() string { return f.kind }

// configure reads the file, the environment and the flags, each over the one before.
func configure(flags *pflag.FlagSet, environ []string) (*options, error) {
	c := &configuration{table: settings(), given: map[string]value{}}
	o := newOptions(c.table)
	env := environment(environ)
	if path := configPath(flags, env); path != "" {
		c.readFile(path, o)
	}
	c.readEnvironment(env, o)
	c.readFlags(flags, o)
	c.readKey(env, o)
	c.readSecrets(env, o)
	c.checkTogether(o)
	if len(c.wrong) > 0 {
		return nil, &usageError{configError(c.wrong)}
	}
	return o, nil
}

func configPath(flags *pflag.FlagSet, env map[string]string) string {
	if f := flags.Lookup("config"); f != nil && f.Changed {
		return f.Value.String()
	}
	return env[envPrefix+"CONFIG"]
}

func environment(environ []string) map[string]string {
	env := map[string]string{}
	for _, e := range environ {
		name, text, _ := strings.Cut(e, "=")
		env[name] = text
	}
	return env
}

// readEnvironment takes every variable with our prefix. Those that nothing reads are mistakes, unless Kubernetes set
// them.
func (c *configuration) readEnvironment(env map[string]string, o *options) {
	var names []string
	for name := range env {
		if strings.HasPrefix(name, envPrefix) && !slices.Contains(otherVariables(), name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		from := source{fromEnvironment, name}
		i := slices.IndexFunc(c.table, func(s setting) bool { return s.env() == name })
		switch {
		case serviceLink(name, env[name]):
			continue
		case i < 0:
			c.unknown(name, value{text: env[name]}, "the environment", nearest(name, c.names((*setting).env)))
			continue
		}
		c.take(&c.table[i], value{text: env[name], from: from}, o)
	}
}

// otherVariables have our prefix and are no settings: the path of the file, a secret, a token, and the browser that
// tests use.
func otherVariables() []string {
	return []string{envPrefix + "CONFIG", secretVariable, tokenVariable, envPrefix + "CHROMIUM"}
}

func (c *configuration) readFlags(flags *pflag.FlagSet, o *options) {
	for i := range c.table {
		s := &c.table[i]
		if f := flags.Lookup(s.flag()); f != nil && f.Changed {
			c.take(s, value{text: f.Value.String(), from: source{fromFlag, "--" + s.flag()}}, o)
		}
	}
}

// take stores a value, or notes that it is wrong.
func (c *configuration) take(s *setting, v value, o *options) {
	c.given[s.key] = v
	if !s.store(o, v) {
		c.refuse(s.key, s.want)
	}
}

// refuse notes that the value given for a key is wrong, once.
func (c *configuration) refuse(key, want string) {
	v, ok := c.given[key]
	if !ok {
		v = value{text: "not set", from: source{name: "the default"}}
	}
	err := fmt.Errorf("%s is %s (from %s); want %s", key, v, v.from.name, want)
	c.wrong = append(c.wrong, err)
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

// unknown notes a key that nothing reads, and near, the one that was meant, if any. What may be a secret is not shown.
func (c *configuration) unknown(name string, v value, from, near string) {
	shown := v.String()
	advice := "docs/configuration.md and --help list the keys"
	switch {
	case secretName(name):
		shown, advice = "a value not shown here", whereSecretsBelong(name)
	case near != "":
		advice = "did you mean " + near + "?"
	}
	c.wrong = append(c.wrong, fmt.Errorf("%s, with %s (from %s), is no setting; %s", name, shown, from, advice))
}

// whereSecretsBelong is said to who put a secret where many can read it.
func whereSecretsBelong(name string) string {
	if words := strings.ToLower(name); strings.Contains(words, "key") {
		return whereKeysBelong
	}
	return "a secret goes into a file, which a setting such as access.secret_file names"
}

// secretName tells names of what nobody should read.
func secretName(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("._- ", r) })
	for i, w := range words {
		switch w {
		case "key", "apikey":
			if i == len(words)-1 {
				return true
			}
		case "token", "secret", "password", "credential", "credentials":
			return true
		}
	}
	return false
}

func (c *configuration) names(spelling func(*setting) string) []string {
	var list []string
	for i := range c.table {
		list = append(list, spelling(&c.table[i]))
	}
	return list
}

// readKey finds the API key. A flag or variable that names a file goes before GEMINI_API_KEY, the file's own goes
// behind.
func (c *configuration) readKey(env map[string]string, o *options) {
	o.model.key = env["GEMINI_API_KEY"]
	if o.model.keyFile == "" || o.model.key != "" && c.given["model.key_file"].from.rank == fromFile {
		return
	}
	key, err := readSmall(o.model.keyFile)
	if o.model.key = strings.TrimSpace(key); err != nil {
		c.refuse("model.key_file", fmt.Sprintf("a file that can be read: %v", err))
	} else if o.model.key == "" {
		c.refuse("model.key_file", "a file that is not empty")
	}
	o.warnReadable("model.key_file", o.model.keyFile)
}

// warnReadable notes a file with a secret that other users of the machine can read.
func (o *options) warnReadable(key, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		o.notes = append(o.notes, fmt.Sprintf("warning: %s: others on this machine may read %s (%v): chmod 600 %s", key,
			path, info.Mode().Perm(), path))
	}
}

// readSmall reads a file of at most 64 KiB.
func readSmall(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > textBytesMax) {
		err = fmt.Errorf("%s is no file of at most 64 KiB", path)
	}
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	return string(b), err
}
