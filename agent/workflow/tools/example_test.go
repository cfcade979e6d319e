package tools_test

import (
	"context"
	"fmt"

	"github.com/voicegw/voicegw/agent/managed"
	"github.com/voicegw/voicegw/agent/workflow/tools"
)

func Example() {
	list, err := tools.New(tools.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range list {
		if t.Declaration.Name == "condition" {
			fmt.Println(t.Call(context.Background(), managed.ToolCall{Args: map[string]any{
				"expression": "total > limit", "values": `{"total": 120, "limit": 100}`}}))
		}
	}
	// Output:
	// map[result:true status:success] <nil>
}
