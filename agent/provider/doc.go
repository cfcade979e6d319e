// Package provider opens models by name. A model is a model.LLM of ADK, so that ADK's agents and those
// of package agent take it alike. Two models need neither key nor network: Parrot repeats what it is
// told, and Script answers from a file.
//
//	r := provider.NewResolver()
//	llm, err := r.Open(provider.Ref{Provider: "script", Model: "desk.json"})
//
// Both are deterministic: the answer depends on the request alone. All names are safe for concurrent
// use.
package provider
