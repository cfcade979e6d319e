package access_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/voicegw/voicegw/access"
	"github.com/voicegw/voicegw/transport"
)

// Your server mints a token for a user who is logged in. The gateway admits one call with it.
func Example() {
	secret := []byte("thirty-two bytes at the very least")
	token, err := access.Mint(secret, access.Claims{ID: "call-1", Expiry: time.Now().Add(time.Minute), Tenant: "acme",
		CallMax: 10 * time.Minute, Tools: []string{"weather"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	guard, err := access.New(access.Config{Secrets: [][]byte{secret}, Tenant: access.Limits{Calls: 10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		grant, err := guard.Check(context.Background(), &transport.Hello{Token: token, Remote: "192.0.2.1"})
		var refused *transport.Refused
		if errors.As(err, &refused) {
			fmt.Println(refused.Status(), refused.Text())
			continue
		}
		defer grant.Release()
		fmt.Println(grant.Tenant, grant.CallMax, grant.Allows("weather"), grant.Allows("bank"))
	}
	// Output:
	// acme 10m0s true false
	// 401 The call token was used before. Get a new one for each call.
}
