package journal

import (
	"fmt"
	"strings"
)

// CheckKey returns an error for a key that no engine takes. See Engine.
func CheckKey(key string) error {
	if !keyIsGood(key) {
		return fmt.Errorf("journal: the key %q must have 1 to %d letters, digits, \"_\", \"-\" and single \"/\", and begin "+
			"and end with a letter or a digit", key, KeyMax)
	}
	return nil
}

func keyIsGood(key string) bool {
	if key == "" || len(key) > KeyMax || !alphanumeric(key[0]) || !alphanumeric(key[len(key)-1]) {
		return false
	}
	for i := range len(key) {
		if c := key[i]; !alphanumeric(c) && c != '_' && c != '-' && c != '/' {
			return false
		}
	}
	return !strings.Contains(key, "//")
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}
