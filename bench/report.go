package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Report is what a run measured. A figure that is not known is nil, never 0.
type Report struct {
	Transport string  `json:"transport"`
	Codec     string  `json:"codec,omitempty"`
	Detection string  `json:"detection"`
	Calls     int     `json:"calls"`
	Seconds   float64 `json:"seconds"` // measured of each side
	Seed      uint64  `json:"seed"`

	Gateway *Cost  `json:"gateway"`
	Relay   *Cost  `json:"relay"`
	Ratio   *Ratio `json:"ratio"`    // the gateway's cost to the relay's
	Added   *Added `json:"added_ms"` // what the gateway's quantiles are above those of the relay

	InterruptedToClear *Quantiles `json:"interrupted_to_clear_ms"` // from the frame that decides to the clear
	SpeechToSilence    *Quantiles `json:"speech_to_silence_ms"`    // from speech over a reply to the end of its sound
	EndToFirstAudio    *Quantiles `json:"speech_end_to_first_audio_ms"`

	LateFrames    int      `json:"late_frames"` // of replies, which came after their time
	Errors        int      `json:"errors"`
	ErrorMessages []string `json:"error_messages,omitempty"` // the first ones
	Notes         []string `json:"notes,omitempty"`
	Limit         *Limit   `json:"limit,omitempty"`
}

// Cost is what calls cost a process.
type Cost struct {
	CPU        *float64 `json:"cpu_ms_per_call_s"`
	Bytes      *float64 `json:"bytes_per_call"` // of memory that the runtime holds; a few calls do not show
	Goroutines *float64 `json:"goroutines_per_call"`
}

// Ratio compares two costs.
type Ratio struct {
	CPU    *float64 `json:"cpu"`
	Memory *float64 `json:"memory"`
}

// Added is how much longer frames take.
type Added struct {
	Up   *Quantiles `json:"up"`   // frames in mid-utterance, from the caller to the model
	Down *Quantiles `json:"down"` // the first frame of each reply, from the model to the caller
}

// Limit is the most calls at which the 99th percentile of what is added stays within the target.
type Limit struct {
	Calls    int     `json:"calls"`
	TargetMS float64 `json:"target_ms"`
	Steps    []Step  `json:"steps"`
}

// Step is one number of calls that was tried.
type Step struct {
	Calls   int      `json:"calls"`
	UpP99   *float64 `json:"up_p99_ms"`
	DownP99 *float64 `json:"down_p99_ms"`
	CPU     *float64 `json:"cpu_ms_per_call_s"` // of the gateway
	Errors  int      `json:"errors"`
	Within  bool     `json:"within"` // the target
}

const errorMessagesMax = 20

func (r *Report) wrong(format string, args ...any) {
	r.Errors++
	if len(r.ErrorMessages) < errorMessagesMax {
		r.ErrorMessages = append(r.ErrorMessages, fmt.Sprintf(format, args...))
	}
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// ratio compares the costs; nil if one side's are not known.
func ratio(gateway, relay *Cost) *Ratio {
	if gateway == nil || relay == nil {
		return nil
	}
	of := func(a, b *float64) *float64 {
		if a == nil || b == nil {
			return nil
		}
		return positive(*a / *b)
	}
	return &Ratio{CPU: of(gateway.CPU, relay.CPU), Memory: of(gateway.Bytes, relay.Bytes)}
}

// WriteJSON writes the report as one object.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// WriteMarkdown writes the report as tables.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d calls over %s, detection by the %s, %.0f s measured, seed %d\n\n", r.Calls,
		strings.TrimSpace(r.Transport+" "+r.Codec), r.Detection, r.Seconds, r.Seed)
	r.writeCosts(&b)
	r.writeTimes(&b)
	fmt.Fprintf(&b, "\n%d late frames, %d errors\n", r.LateFrames, r.Errors)
	for _, e := range r.ErrorMessages {
		fmt.Fprintf(&b, "- error: %s\n", e)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", n)
	}
	if r.Limit != nil {
		r.Limit.write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writeCosts(b *strings.Builder) {
	g, l, q := r.Gateway, r.Relay, r.Ratio
	if g == nil {
		g = &Cost{}
	}
	if l == nil {
		l = &Cost{}
	}
	if q == nil {
		q = &Ratio{}
	}
	b.WriteString("| | gateway | relay | ratio |\n|---|---|---|---|\n")
	fmt.Fprintf(b, "| processor time for a second of a call | %s | %s | %s |\n", cell("%.2f ms", 1, g.CPU),
		cell("%.2f ms", 1, l.CPU), cell("%.2f", 1, q.CPU))
	fmt.Fprintf(b, "| memory of a call | %s | %s | %s |\n", cell("%.2f MB", 1e6, g.Bytes), cell("%.2f MB", 1e6, l.Bytes),
		cell("%.2f", 1, q.Memory))
	fmt.Fprintf(b, "| goroutines of a call | %s | %s | |\n", cell("%.1f", 1, g.Goroutines), cell("%.1f", 1, l.Goroutines))
}

func (r *Report) writeTimes(b *strings.Builder) {
	b.WriteString("\n| ms | p50 | p95 | p99 | n |\n|---|---|---|---|---|\n")
	row := func(name string, q *Quantiles) {
		if q == nil {
			fmt.Fprintf(b, "| %s | unknown | | | |\n", name)
			return
		}
		fmt.Fprintf(b, "| %s | %.2f | %.2f | %.2f | %d |\n", name, q.P50, q.P95, q.P99, q.N)
	}
	added := r.Added
	if added == nil {
		added = &Added{}
	}
	row("added to a frame up", added.Up)
	row("added to the first frame of a reply", added.Down)
	row("decision to clear", r.InterruptedToClear)
	row("speech over a reply to silence", r.SpeechToSilence)
	row("end of speech to first audio", r.EndToFirstAudio)
}

func (l *Limit) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n%d calls at a 99th percentile of at most %.0f ms\n\n", l.Calls, l.TargetMS)
	b.WriteString("| calls | up p99 | down p99 | processor time | errors |\n|---|---|---|---|---|\n")
	for _, s := range l.Steps {
		fmt.Fprintf(b, "| %d | %s | %s | %s | %d |\n", s.Calls, cell("%.2f ms", 1, s.UpP99), cell("%.2f ms", 1, s.DownP99),
			cell("%.2f ms", 1, s.CPU), s.Errors)
	}
}

// cell formats a figure in a unit, "unknown" if there is none.
func cell(format string, unit float64, v *float64) string {
	if v == nil {
		return "unknown"
	}
	return fmt.Sprintf(format, *v/unit)
}
