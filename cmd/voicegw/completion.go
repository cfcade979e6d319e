package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/settings"
)

// shells are those for which completion prints a script.
func shells() []string { return []string{"bash", "zsh", "fish"} }

func completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "print a script that completes commands, flags and their values in bash, zsh or fish",
		Long: "completion prints a script for a shell: bash, zsh or fish. The script asks voicegw itself, so it\n" +
			"knows every command, flag and value of the version that is installed.",
		Example: "  source <(voicegw completion bash)\n" +
			"  voicegw completion zsh > \"${fpath[1]}/_voicegw\"\n" +
			"  voicegw completion fish > ~/.config/fish/completions/voicegw.fish",
		ValidArgs: shells(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells(), args[0]) {
				return usagef("want one shell: %s", strings.Join(shells(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			default:
				return root.GenFishCompletion(out, true)
			}
		},
	}
}

// complete completes a flag with a few words.
func complete(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag is missing or has words already
	}
}

// completeSetting completes the flag of a setting: with its words, with paths, or not at all.
func completeSetting(cmd *cobra.Command, r settings.Row) {
	switch {
	case r.Words != nil:
		complete(cmd, r.Flag(), r.Words...)
	case r.Path == settings.DirectoryPath:
		_ = cmd.MarkFlagDirname(r.Flag())
	case r.Path == settings.NotPath:
		complete(cmd, r.Flag())
	}
}

// completeNets completes the argument of a command with the nets of calls, or a file.
func completeNets(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, n := range shippedNets() {
		names = append(names, cobra.CompletionWithDesc(n.name, n.doc))
	}
	return names, cobra.ShellCompDirectiveDefault
}
