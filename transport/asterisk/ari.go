package asterisk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// transferVariable is the variable of the caller's channel in which the dialplan finds the target
// of a transfer.
const transferVariable = "VOICEGW_TRANSFER"

// errNoChannel says that the call did not name the caller's channel.
var errNoChannel = errors.New("the call has no parameter \"channel\" with the id of the caller's channel")

// transfer makes the caller's channel continue at an extension when the call has ended here. It
// waits at most Timeout.
func (a *ARI) transfer(ctx context.Context, channel, extension string) error {
	if channel == "" {
		return fmt.Errorf("asterisk: transfer: %w", errNoChannel)
	}
	if a.Context == "" {
		return a.post(ctx, channel, "variable", url.Values{"variable": {transferVariable}, "value": {extension}})
	}
	return a.post(ctx, channel, "continue",
		url.Values{"context": {a.Context}, "extension": {extension}, "priority": {"1"}})
}

// post sends a command for a channel to ARI.
func (a *ARI) post(ctx context.Context, channel, what string, params url.Values) error {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	address := a.URL + "/channels/" + url.PathEscape(channel) + "/" + what + "?" + params.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return fmt.Errorf("asterisk: %s channel: %w", what, err)
	}
	req.SetBasicAuth(a.User, a.Password)
	client := http.Client{Transport: a.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect must not receive the password
	}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asterisk: %s channel: %w", what, err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.CopyN(io.Discard, resp.Body, 4096) // so that the connection can be used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("asterisk: %s channel: the REST interface answers %s", what, resp.Status)
	}
	return nil
}
