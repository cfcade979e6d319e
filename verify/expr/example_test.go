package expr_test

import (
	"fmt"

	"github.com/voicegw/voicegw/verify/expr"
)

// Parse accepts what a property says of a marking; an error names the column.
func ExampleParse() {
	e, err := expr.Parse("speaking >= 1 && !can(barge_in)")
	fmt.Println(e, err)
	_, err = expr.Parse("speaking >=")
	fmt.Println(err)
	// Output:
	// speaking >= 1 && !can(barge_in) <nil>
	// verify: parse "speaking >=": column 12: a place or a number expected, not "end"
}
