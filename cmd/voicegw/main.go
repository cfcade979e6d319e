// Command voicegw is the gateway and its tools. `voicegw serve` takes calls, `voicegw call` makes
// one, `voicegw verify` checks the nets that calls run on. `voicegw help` lists all commands.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitFailed = 1 // the answer is no, or a command that answers no question failed
	exitUsage  = 2 // the user made a mistake: a flag, an argument, a setting, a file
	exitOpen   = 3 // the question stays open: a limit was reached, an archive is incomplete
	exitBroken = 4 // the command failed before it had an answer
)

// failure returns the exit code of a command that fails. For verify, explore and replay, 1 is an
// answer.
func failure(args []string) int {
	if len(args) > 0 && slices.Contains([]string{"verify", "explore", "replay"}, args[0]) {
		return exitBroken
	}
	return exitFailed
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the command line and returns the exit code. It writes no control characters to the
// terminal.
func run(args []string, stdout, stderr io.Writer) int {
	stdout, stderr = &visible{w: stdout}, &visible{w: stderr}
	ctx, stop := untilSignalled(context.Background(), stderr, failure(args))
	defer stop()
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	say(stderr, fmt.Sprintf("%s: %v\n", cmd.CommandPath(), err))
	var a *answer
	if errors.As(err, &a) {
		return a.code
	}
	if errors.As(err, new(*usageError)) {
		fmt.Fprintf(stderr, "`%s --help` says more.\n", cmd.CommandPath())
		return exitUsage
	}
	return failure(args)
}

// rootCommand returns voicegw with all its commands.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "voicegw",
		Short: "a gateway between people who speak and full-duplex voice models",
		Long: "voicegw is a gateway between people who speak and full-duplex voice models.\n" +
			"One Petri net per call controls what happens between them.",
		Args:          noArguments,
		Version:       versionLine(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.SetVersionTemplate("{{.Version}}\n")
	root.AddCommand(serveCommand(), callCommand(), callsCommand(), simCommand(), netCommand(), verifyCommand(),
		exploreCommand(), replayCommand(), agentsCommand(), sessionsCommand(), workflowCommand(), tokenCommand(),
		configCommand(), completionCommand(), doctorCommand(), benchCommand(), versionCommand())
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = helpArguments
	return root
}
