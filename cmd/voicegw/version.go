package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/transport"
)

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"version": version(), "protocol": transport.Version,
					"go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH})
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionLine())
			return err
		},
	}
	outputFlag(cmd, &asJSON, "version, protocol, go, os and arch")
	return cmd
}

// versionLine is what `voicegw version` prints.
func versionLine() string {
	return fmt.Sprintf("voicegw %s, protocol voicegw.v%d, %s %s/%s", version(), transport.Version, runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
}

// version returns the tag or the commit that the go command wrote into the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = " and changes"
		}
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "(devel)" + revision + modified
}
