package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/voicegw/voicegw/internal/spelling"
	"github.com/voicegw/voicegw/settings"
)

// usageError is a mistake of the user: a flag, an argument, a setting or a file.
type usageError struct{ err error }

// Error returns the mistake.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// noArguments refuses arguments. For a command of commands it names the one that was meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !cmd.HasSubCommands() {
		return usagef("it takes only flags, not %q%s", args[0], boolHint(args[0]))
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

// boolHint explains that boolean flags take their value after "=", not after a space.
func boolHint(arg string) string {
	if slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "0", "1"}, strings.ToLower(arg)) {
		return `; a boolean flag takes its value after "=", as in --show-net=false`
	}
	return ""
}

// flagError names the flag that was meant.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if !errors.As(err, &missing) || missing.GetSpecifiedShortnames() != "" {
		return &usageError{err}
	}
	unknown := missing.GetSpecifiedName()
	if hint := settings.Hint("--" + unknown); hint != "" {
		return usagef("--%s is not a flag: %s", unknown, hint)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return usagef("%w; %s", err, suggest("--"+unknown, names, "--help lists the flags"))
}

// suggest asks whether the nearest of the names was meant; without one it returns otherwise.
func suggest(wrong string, names []string, otherwise string) string {
	if near := spelling.Nearest(wrong, names); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return otherwise
}
