package journal

import (
	"fmt"
	"regexp"
)

var keyRule = regexp.MustCompile(`^[A-Za-z0-9]((/?[A-Za-z0-9_-])*/?[A-Za-z0-9])?$`)

// CheckKey returns an error for a key that no engine takes. See Engine.
func CheckKey(key string) error {
	if len(key) > KeyMax || !keyRule.MatchString(key) {
		return fmt.Errorf("journal: the key %q must have 1 to %d letters, digits, \"_\", \"-\" and single \"/\", and begin "+
			"and end with a letter or a digit", key, KeyMax)
	}
	return nil
}
