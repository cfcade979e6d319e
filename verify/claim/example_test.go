package claim_test

import (
	"fmt"

	"github.com/voicegw/voicegw/verify/claim"
)

// Parse reads one of Forms, as a file of properties has it.
func ExampleParse() {
	for _, text := range []string{"never speaking && held", "bound unacked <= 3", "request leads to reply",
		"deadlock-free"} {
		c, err := claim.Parse(text)
		fmt.Printf("%T %v\n", c, err)
	}
	// Output:
	// claim.Never <nil>
	// claim.Never <nil>
	// claim.LeadsTo <nil>
	// claim.DeadlockFree <nil>
}
