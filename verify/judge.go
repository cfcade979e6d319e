package verify

import (
	"github.com/voicegw/voicegw/verify/witness"
)

// judged checks the run of a verdict against the property itself. If the run does not show what it
// should, the verdict is void. Otherwise the story of the run ends where the run shows it.
func (p *Pass) judged(prop *Property, v Verdict) (Verdict, error) {
	w := v.Witness
	if w == nil || w.Model() == nil || v.Outcome == Unknown {
		return v, nil
	}
	breaks, err := witness.Judge(prop.Claim, p.model)
	if err != nil || breaks == nil {
		return v, err
	}
	r := &witness.Trace{Model: w.Model(), Steps: w.Steps()}
	for _, f := range w.Firings {
		r.At = append(r.At, f.At)
	}
	at, ok := breaks(r)
	if !ok {
		u := unknown(v.Method, Spurious, "%s, but the run that was found does not show it", v.Reason)
		u.States, u.Witness = v.States, w
		return u, nil
	}
	w.SetStory(at + 1)
	return v, nil
}
