package voicegw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/voicegw/voicegw/internal/foreign"
	"github.com/voicegw/voicegw/transport"
)

// TransferToolName is the name of the function of TransferTool.
const TransferToolName = "transfer"

const (
	transferTargetsMax = 100
	transferNameMax    = 64 // bytes
	// transferPoll is how often a transfer looks whether the reply before it was heard to its end, and
	// transferWait is how long it waits for that.
	transferPoll = 100 * time.Millisecond
	transferWait = 10 * time.Second
)

// TransferTool returns a function by which the model hands a call off to a target. targets are the
// addresses by name, 1 to 100, as Session.HandOff takes them. The model knows the names alone, and cannot choose
// an address. The caller hears the reply in which the model announces the transfer to its end, for
// at most 10 s.
func TransferTool(targets map[string]string) (Tool, error) {
	names := slices.Sorted(maps.Keys(targets))
	if len(names) == 0 || len(names) > transferTargetsMax {
		return Tool{}, fmt.Errorf("voicegw: TransferTool: there are %d targets; 1 to %d are possible", len(names),
			transferTargetsMax)
	}
	for _, name := range names {
		if name == "" || len(name) > transferNameMax {
			return Tool{}, fmt.Errorf("voicegw: TransferTool: a name of a target has %d bytes; 1 to %d are possible",
				len(name), transferNameMax)
		}
		if err := checkAddress(targets[name]); err != nil {
			return Tool{}, fmt.Errorf("voicegw: TransferTool: the target %q: %w", name, err)
		}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "required": []string{"target"},
		"properties": map[string]any{"target": map[string]any{"type": "string", "enum": names}}})
	if err != nil {
		return Tool{}, fmt.Errorf("voicegw: TransferTool: %w", err)
	}
	addresses := maps.Clone(targets)
	return Tool{Name: TransferToolName, Parameters: schema,
		Description: "transfers the caller to somebody else, and ends your part of the call; tell the caller first",
		Call: func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			var in struct {
				Target string `json:"target"`
			}
			if err := json.Unmarshal(args, &in); err != nil {
				return nil, errors.New("the arguments do not fit: target must be a text")
			}
			address, ok := addresses[in.Target]
			if !ok {
				return nil, fmt.Errorf("there is no target %q; there are: %s", foreign.Cut(in.Target, transferNameMax),
					strings.Join(names, ", "))
			}
			return transferTo(ctx, address)
		}}, nil
}

// transferTo hands the call of a tool off once nothing is played to the caller.
func transferTo(ctx context.Context, address string) (json.RawMessage, error) {
	s, ok := SessionOf(ctx)
	if !ok {
		return nil, errors.New("there is no call to transfer")
	}
	for waited := time.Duration(0); waited < transferWait && s.occupied(); waited += transferPoll {
		if !sleep(ctx, transferPoll) {
			return nil, ctx.Err() // the model no longer wants the transfer
		}
	}
	if err := s.HandOff(address); err != nil {
		return nil, err
	}
	return json.RawMessage(`{"transferred": true}`), nil
}

// checkAddress refuses an address that no transfer can name.
func checkAddress(address string) error {
	if address == "" || len(address) > transport.AddressLenMax || strings.ContainsAny(address, "\r\n") {
		return fmt.Errorf("the address has %d bytes; 1 to %d without line breaks are possible", len(address),
			transport.AddressLenMax)
	}
	return nil
}
