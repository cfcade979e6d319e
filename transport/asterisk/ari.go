package asterisk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// transferVariable is set on the caller's channel where the dialplan looks for who takes the call over.
const transferVariable = "VOICEGW_TRANSFER"

// errNoChannel says that the call did not tell which channel is the caller's.
var errNoChannel = errors.New("the call has no parameter \"channel\" with the id of the caller's channel")

// transfer has the caller's channel go on at an extension when the call is over here. It waits at most Timeout.
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

// post asks for something to be done to a channel.
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
		return http.ErrUseLastResponse // the password goes nowhere else
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
