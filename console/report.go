package console

import (
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"
)

//go:embed report.html
var reportText string

var reportPage = template.Must(template.New("report").Parse(reportText))

// report is the page of an archived call that may leave the house: whole in itself, without scripts.
type report struct {
	ID       string
	Began    time.Time
	Length   string
	Trouble  string
	Height   int
	Ticks    []tick
	Rows     []row
	Silences []Silence
	Turns    []turnRow
}

type tick struct {
	X    float64
	Text string
}

type row struct {
	Name string
	Y    int
	Bars []bar
}

type bar struct {
	Class string
	X, W  float64
	Y     int
}

type turnRow struct {
	Name  string
	Cells []string
}

const (
	reportLeft, reportRight = 120.0, 990.0
	reportTop, reportRow    = 20, 22
	reportTicks             = 8
)

// reportRows are the rows of the timeline, and the lanes in each.
var reportRows = []struct {
	name  string
	lanes []string
}{
	{"State", []string{"phase"}}, {"Caller speaks", []string{"speech"}}, {"Caller's turn", []string{"turn"}},
	{"Model audio", []string{"received"}}, {"Sent to caller", []string{"sent"}}, {"Played", []string{"played", "cleared"}},
	{"Functions", []string{"tool"}}, {"Hold, mute", []string{"held", "muted", "protected", "unconsented"}},
	{"Model online", []string{"online"}}, {"Silences", []string{"silence"}},
}

// report serves the report of an archived call as a file to keep.
func (s *server) report(w http.ResponseWriter, r *http.Request) {
	s.reportOn(w, r, r.PathValue("name"), "attachment")
}

// reportOn answers with the report of an archived call.
func (s *server) reportOn(w http.ResponseWriter, r *http.Request, name, disposition string) {
	read, prog, file, err := s.open(name)
	if err != nil {
		refuse(w, err)
		return
	}
	defer file.Close()
	if !s.begin() {
		refuse(w, errFeeds)
		return
	}
	defer s.end()
	rec := newRecorder(prog.Track())
	for err == nil {
		if r.Context().Err() != nil { // the client is gone
			return
		}
		_, err = rec.read(read, pageEvents)
	}
	page := reportOf(rec.flush(rec.t.Now()))
	page.ID, page.Began, page.Trouble = name, read.Header.Start, trouble(read, rec, err)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf("%s; filename=%q", disposition, name+".html"))
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = reportPage.Execute(w, page) // the client may be gone
}

func reportOf(b Batch) *report {
	end := max(b.At, 1000)
	x := func(at float64) float64 { return round(reportLeft + at/end*(reportRight-reportLeft)) }
	p := &report{Length: seconds(b.At), Silences: b.Silences, Height: reportTop + len(reportRows)*reportRow + 4}
	for i := range reportTicks {
		at := end / reportTicks * float64(i)
		p.Ticks = append(p.Ticks, tick{x(at), clock(at)})
	}
	for i, of := range reportRows {
		line := row{Name: of.name, Y: reportTop + i*reportRow}
		for _, s := range b.Spans {
			if !belongs(s.Lane, of.lanes) || s.Lane == "silence" && s.To-s.From < ms(silenceMin) {
				continue
			}
			class, _, _ := strings.Cut(s.Lane, " ")
			if s.Lane == "phase" {
				class = s.Note
			}
			line.Bars = append(line.Bars, bar{class, x(s.From), max(round(x(s.To)-x(s.From)), 1), line.Y + 4})
		}
		p.Rows = append(p.Rows, line)
	}
	for _, t := range b.Turns {
		p.Turns = append(p.Turns, turnRowOf(t))
	}
	return p
}

func belongs(lane string, lanes []string) bool {
	for _, l := range lanes {
		if lane == l || strings.HasPrefix(lane, l+" ") {
			return true
		}
	}
	return false
}

func turnRowOf(t Turn) turnRow {
	between := func(from, to float64) string {
		if from == 0 || to == 0 {
			return "–"
		}
		return seconds(to - from)
	}
	begin := t.SpeechBegan
	for _, other := range []float64{t.TurnEnded, t.SentFirst} {
		if begin == 0 {
			begin = other
		}
	}
	asked := t.SpeechEnded
	if asked == 0 {
		asked = t.TurnEnded
	}
	row := turnRow{Name: fmt.Sprintf("%d at %s", t.N+1, clock(begin))}
	for _, names := range reportStages {
		row.Cells = append(row.Cells, stageCell(t.Stages, names))
	}
	row.Cells = append(row.Cells, between(asked, t.PlayedFirst), heard(t), strings.ReplaceAll(t.End, "_", " "))
	return row
}

// reportStages are the columns of a turn's stages.
var reportStages = [][]string{{stageEndOfTurn}, {stageConnecting, stageReconnecting}, {stageFunction}, {stageModel},
	{stageGateway}, {stageCaller}}

// stageCell is how long stages with these names took.
func stageCell(list []Stage, names []string) string {
	took, known := 0.0, false
	for _, s := range list {
		if slices.Contains(names, s.Name) {
			took, known = took+s.MS, true
		}
	}
	if !known {
		return "–"
	}
	return seconds(took)
}

// heard says how much of a reply was heard.
func heard(t Turn) string {
	text := fmt.Sprintf("%s of %s", seconds(float64(t.HeardMS)), seconds(float64(t.SentMS)))
	if t.SilentMS > 0 {
		text += fmt.Sprintf(", with %s of silence in it", seconds(float64(t.SilentMS)))
	}
	return text
}

func round(x float64) float64 { return float64(int64(x*10+0.5)) / 10 }
