// Package provider opens models by name. A model is a model.LLM of ADK, so that ADK's agents and those
// of package agent take it alike.
//
//	cfg := provider.Config{Lookup: os.Getenv}
//	r, err := cfg.Resolver()
//	llm, err := r.Open(provider.Ref{Provider: "openai", Model: "gpt-5-mini"})
//
// Providers lists the models that need a network. Two need neither key nor network: Parrot repeats what
// it is told, and Script answers from a file. Both are deterministic: the answer depends on the request
// alone. An empty Ref opens the model of the first provider that has a key, or the parrot.
//
// All providers are mapped alike: the finish reasons and usage of package genai, thoughts as parts with
// Thought, partial responses and then a whole one with TurnComplete, an *Error with a Code. Requests that
// fail for a while are repeated within Retry; responses stay within Limits. What a provider cannot do is
// an *Error with Code Unsupported that names it; nothing of a request is dropped, except thoughts of
// other providers. All names are safe for concurrent use.
package provider
