package expr_test

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/agent/workflow/expr"
)

func Example() {
	e, err := expr.Compile("sum([i.price for i in items]) > limit", []string{"items", "limit"})
	if err != nil {
		fmt.Println(err)
		return
	}
	items := []any{map[string]any{"price": 60.0}, map[string]any{"price": 50.5}}
	fmt.Println(e.Eval(context.Background(), map[string]any{"items": items, "limit": 100}))
	_, err = expr.Compile("sum([i.price for i in itmes])", []string{"items", "limit"})
	fmt.Println(err)
	// Output:
	// true <nil>
	// line 1, column 23: there is no name "itmes"; did you mean "items"?
}
