package fetch_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/voicegw/voicegw/agent/fetch"
)

func Example() {
	c, err := fetch.New(fetch.Config{Allow: []string{"10.1.0.0/16"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = c.Do(context.Background(), fetch.Request{URL: "http://127.0.0.1:6379/"})
	var denied *fetch.DeniedError
	if errors.As(err, &denied) {
		fmt.Println(denied.Addr, denied.Rule)
	}
	// Output:
	// 127.0.0.1:6379 127.0.0.0/8 (this machine)
}
