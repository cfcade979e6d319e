package settings

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// A Change is a setting that has another value, or names a file with other contents.
type Change struct {
	Key     string
	File    bool // the value is the same: the file that it names has changed
	Reloads bool // a running gateway can take the change: Row.Reloads
}

// Changes returns the settings that differ between s and next, in the order of their keys.
func (s *Settings) Changes(next *Settings) []Change {
	var list []Change
	reloads := map[string]bool{}
	for i := range s.rows {
		reloads[s.rows[i].Key] = s.rows[i].Reloads
	}
	keys := maps.Clone(s.given)
	maps.Copy(keys, next.given)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		c := Change{Key: key, Reloads: reloads[key]}
		if s.given[key] == next.given[key] {
			if c.File = s.files[key] != next.files[key]; !c.File {
				continue
			}
		}
		list = append(list, c)
	}
	return list
}

// Keeping returns s for Changes, with the values that other settings have of some keys.
func (s *Settings) Keeping(other *Settings, keys []string) *Settings {
	kept := *s
	kept.given, kept.files = maps.Clone(s.given), maps.Clone(s.files)
	for _, key := range keys {
		delete(kept.given, key)
		delete(kept.files, key)
		if text, ok := other.given[key]; ok {
			kept.given[key] = text
		}
		if sum, ok := other.files[key]; ok {
			kept.files[key] = sum
		}
	}
	return &kept
}

// Reread returns the settings whose files the gateway reads again by itself when they change.
func Reread() []string { return []string{"tls.cert_file", "tls.key_file"} }

// keep notes the values that were given, and the contents of the files that they name.
func (r *reader) keep() {
	r.Settings.given, r.files = map[string]string{}, map[string][sha256.Size]byte{}
	for i := range r.rows {
		row := &r.rows[i]
		v, ok := r.given[row.Key]
		if !ok || v.text == row.Default && row.literal {
			continue
		}
		text := v.text
		if v.texts != nil {
			text = fmt.Sprint(v.texts) // in the order of its keys
		}
		r.Settings.given[row.Key] = text
		if row.Path == FilePath {
			r.files[row.Key] = digest(v.text)
		}
	}
}

// digestBytesMax is how much of a file is compared.
const digestBytesMax = 16 << 20

// digest returns a hash of the contents of a regular file; of anything else, zeros.
func digest(name string) (sum [sha256.Size]byte) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return sum
	}
	file, err := os.Open(name)
	if err != nil {
		return sum
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(file, digestBytesMax)); err != nil {
		return sum
	}
	return [sha256.Size]byte(h.Sum(nil))
}
