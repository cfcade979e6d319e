package fetch_test

import (
	"context"
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
	fmt.Println(err)
	// Output:
	// fetch: http://127.0.0.1:6379/: the address 127.0.0.1 is private: 127.0.0.0/8 (this machine); the operator can allow "127.0.0.1/32", or the host "127.0.0.1"
}
