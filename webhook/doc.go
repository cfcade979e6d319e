// Package webhook lets HTTP servers of an operator take part in calls: they answer functions of the model, decide
// whether a call begins, and get its record and the digits of protected input.
//
//	hook, err := webhook.New(webhook.Config{URL: "https://crm.example/orders", Secret: secret})
//	cfg.Tools = append(cfg.Tools, hook.Tool(voicegw.Tool{Name: "orders", Description: "knows all orders"}, log))
//
// A [Hook] posts JSON to one URL and waits for the answer. A [Queue] posts what nobody waits for. Each request is
// signed, has a key that its repetitions share, and goes to public addresses only, or to those that the operator
// allows. [Verify] is the check of a receiver.
package webhook
