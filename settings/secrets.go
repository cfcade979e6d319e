package settings

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/voicegw/voicegw/access"
)

// SecretVariable is the environment variable with the secrets that sign call tokens.
const SecretVariable = envPrefix + "ACCESS_SECRET"

// keyVariable is the environment variable with the API key.
const keyVariable = "GEMINI_API_KEY"

const whereKeysBelong = "an API key belongs in the environment variable " + keyVariable + ", or in a file that " +
	"model.key_file names"

// secretName reports whether a key, variable or flag of this name would hold a secret.
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

// whereSecretsBelong is the advice to someone who put a secret where many can read it.
func whereSecretsBelong(name string) string {
	if strings.Contains(strings.ToLower(name), "key") {
		return whereKeysBelong
	}
	return "a secret belongs in a file, which a setting such as access.secret_file names"
}

// readKey finds the API key. A flag or variable that names a file wins over GEMINI_API_KEY, which
// wins over a file that the configuration file names.
func (r *reader) readKey() {
	m := &r.Model
	m.Key = r.env[keyVariable]
	if m.KeyFile == "" || m.Key != "" && r.given["model.key_file"].from.rank == fromFile {
		return
	}
	key, err := readSmall(m.KeyFile)
	if m.Key = strings.TrimSpace(key); err != nil {
		r.refuse("model.key_file", fmt.Sprintf("a file that can be read: %v", err))
	} else if m.Key == "" {
		r.refuse("model.key_file", "a file that is not empty")
	}
	r.noteReadable("model.key_file", m.KeyFile)
}

// readSecrets finds the secrets that sign tokens. Their sources have the order of those of the API
// key.
func (r *reader) readSecrets() {
	a := &r.access
	text, from := r.env[SecretVariable], SecretVariable
	inFile := r.given["access.secret_file"].from.rank == fromFile
	if a.secretFile != "" && (text == "" || !inFile) {
		var err error
		if text, err = readSmall(a.secretFile); err != nil {
			r.refuse("access.secret_file", fmt.Sprintf("a file that can be read: %v", err))
			return
		}
		from = "access.secret_file"
		r.noteReadable(from, a.secretFile)
	}
	if text == "" && a.secretFile == "" {
		return
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			a.Secrets = append(a.Secrets, []byte(line))
		}
	}
	if _, err := access.New(access.Config{Secrets: a.Secrets}); err == nil && len(a.Secrets) > 0 {
		return
	}
	want := fmt.Sprintf("one to eight secrets of at least %d bytes, one a line; `openssl rand -hex 32` makes one",
		access.SecretLenMin)
	if from == SecretVariable {
		r.wrong = append(r.wrong, errors.New(SecretVariable+" is a value not shown here; want "+want))
		return
	}
	r.refuse("access.secret_file", want)
}

// Secret reads the secret in the file that a setting names, "" if the path is "". It adds a note if
// others can read the file.
func (s *Settings) Secret(key, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := readSmall(path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", key, err)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", fmt.Errorf("%s: %s is empty", key, path)
	}
	s.noteReadable(key, path)
	return text, nil
}

// noteReadable notes a file with a secret that other users of the machine can read.
func (s *Settings) noteReadable(key, path string) {
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("warning: %s: others on this machine may read %s (%v): chmod 600 %s", key,
			path, info.Mode().Perm(), path))
	}
}

// readSmall reads a regular file of at most 64 KiB.
func readSmall(path string) (string, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > textBytesMax) {
		err = fmt.Errorf("%s is not a file of at most 64 KiB", path)
	}
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(path)
	return string(b), err
}
