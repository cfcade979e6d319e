package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is a mistake in what the command was asked to do.
type usageError struct{ err error }

// Error gives the mistake.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// noArguments refuses arguments and, at the root, names the verb that was meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return usagef("it takes flags only, not %q%s", args[0], boolHint(args[0]))
	}
	var verbs []string
	for _, c := range cmd.Commands() {
		verbs = append(verbs, c.Name())
	}
	all := "the commands are " + strings.Join(verbs, ", ")
	return usagef("there is no command %q; %s", args[0], suggest(args[0], verbs, all))
}

// helpArguments refuses help on a command that does not exist.
func helpArguments(cmd *cobra.Command, args []string) error {
	about, rest, err := cmd.Root().Find(args)
	if err != nil {
		return err
	}
	return about.ValidateArgs(rest)
}

// boolHint is for who put the value of a flag that is true or false behind a space.
func boolHint(arg string) string {
	if slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "0", "1"}, strings.ToLower(arg)) {
		return `; a flag that is true or false has its value behind "=", as in --show-net=false`
	}
	return ""
}

// flagError names the flag that was meant.
func flagError(cmd *cobra.Command, err error) error {
	unknown := regexp.MustCompile(`^unknown flag: --([^= ]+)`).FindStringSubmatch(err.Error())
	if unknown == nil {
		return &usageError{err}
	}
	if secretName(unknown[1]) {
		return usagef("--%s is no flag: %s", unknown[1], whereKeysBelong)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return usagef("%w; %s", err, suggest("--"+unknown[1], names, "--help lists the flags"))
}

// suggest says which of the names was meant, or says otherwise.
func suggest(wrong string, names []string, otherwise string) string {
	if near := nearest(wrong, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return otherwise
}

// nearest is the name with the fewest edits from wrong, the first of several; "" when it takes more than a third of
// the letters, and two.
func nearest(wrong string, names []string) string {
	best, most := "", max(2, len(wrong)/3)+1
	for _, name := range names {
		if d := edits(strings.ToLower(wrong), strings.ToLower(name)); d < most {
			best, most = name, d
		}
	}
	return best
}

// edits is how many letters must be inserted, deleted, replaced or swapped with their neighbour to make b of a
// (optimal string alignment).
func edits(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
