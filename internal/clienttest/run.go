package clienttest

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// parallelDefault is how many tests run at once unless the flag -parallel says otherwise. Tests with
// clients run in real time: most of it they wait for sound.
const parallelDefault = "4"

// Run is a package's tests, for its TestMain, as many at once as tests with clients may be.
type Run struct{ M *testing.M }

// Run runs the tests and returns the exit code.
func (r Run) Run() int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", parallelDefault); err != nil {
			fmt.Fprintln(os.Stderr, "clienttest:", err)
			return 1
		}
	}
	return r.M.Run()
}
