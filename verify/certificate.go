package verify

// Certificate is evidence for a proof that something else than its maker can
// check.
type Certificate struct {
	Net      string `json:"netHash"`
	Property string `json:"property"`
	Method   string `json:"method"`
}
