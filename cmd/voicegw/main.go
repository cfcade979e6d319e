// Command voicegw is the gateway and its tools: serve takes calls, call makes one, sim is the embedded model, net draws
// and verify checks the nets that calls run on, explore visits all states of any net,
// replay plays a recorded call again, token makes call tokens. `voicegw help` lists them.
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

// exit codes: a person can do something about each.
const (
	exitFailed = 1 // the answer is no; of a command that answers no question: it failed
	exitUsage  = 2 // what was asked for is wrong: a flag, a key of the configuration, an argument
	exitOpen   = 3 // the question stays open: a cap was hit, a record is incomplete
	exitBroken = 4 // the command failed before it had an answer
)

// failure is the exit code of a command that fails. verify, explore and replay answer questions: for them 1 is an
// answer.
func failure(args []string) int {
	if len(args) > 0 && slices.Contains([]string{"verify", "explore", "replay"}, args[0]) {
		return exitBroken
	}
	return exitFailed
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run runs the command line and returns the exit code. Nothing is written that a terminal would obey, whoever wrote it.
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

// rootCommand is the command line with every verb.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "voicegw",
		Short: "a gateway between people who speak and full-duplex voice models",
		Long: "voicegw is a gateway between people who speak and full-duplex voice models.\n" +
			"One Petri net per call decides everything between them.",
		Args:          noArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(serveCommand(), callCommand(), simCommand(), netCommand(), verifyCommand(),
		exploreCommand(), replayCommand(), tokenCommand(), versionCommand())
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = helpArguments
	return root
}
