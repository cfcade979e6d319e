package provider

import "google.golang.org/adk/v2/model"

// Instead returns a Resolver that opens one model for all names that r knows. The model is opened now.
func (r *Resolver) Instead(ref Ref) (*Resolver, error) {
	llm, err := r.Open(ref)
	if err != nil {
		return nil, err
	}
	one := NewResolver()
	one.fallback = ref
	for _, name := range r.Names() {
		one.Add(name, func(Ref) (model.LLM, error) { return llm, nil })
	}
	return one, nil
}
