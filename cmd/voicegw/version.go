package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/voicegw/voicegw/transport"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  noArguments,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "voicegw %s, protocol voicegw.v%d, %s %s/%s\n", version(), transport.Version,
				runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
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
