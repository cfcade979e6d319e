package dot

// Colours are CSS variables with the light value as fallback, so that a page can set all of them.
const (
	groundColour  = "var(--net-ground,#ffffff)"
	frameColour   = "var(--net-frame,#f8fafc)"
	frameLine     = "var(--net-frame-line,#dbe2ea)"
	inkColour     = "var(--net-ink,#1f2937)"
	mutedColour   = "var(--net-muted,#64748b)"
	lineColour    = "var(--net-line,#475569)"
	placeColour   = "var(--net-place,#ffffff)"
	markedColour  = "var(--net-marked,#fde68a)"
	barColour     = "var(--net-bar,#334155)"
	arcColour     = "var(--net-arc,#64748b)"
	readColour    = "var(--net-read,#94a3b8)"
	inhibitColour = "var(--net-inhibit,#dc2626)"
	resetColour   = "var(--net-reset,#ea580c)"
	envColour     = "var(--net-env,#2563eb)"
	portColour    = "var(--net-port,#a855f7)" // in dark pages too
	outputColour  = "var(--net-output,#15803d)"
)

// darkStyle sets the colours for readers who prefer a dark page. Every SVG contains it, unless
// Options.Bare is set.
const darkStyle = `@media (prefers-color-scheme:dark){svg.net{` +
	`--net-ground:#0f172a;--net-frame:#162033;--net-frame-line:#2b3a52;--net-ink:#e2e8f0;--net-muted:#94a3b8;` +
	`--net-line:#94a3b8;--net-place:#0f172a;--net-marked:#854d0e;--net-bar:#cbd5e1;--net-arc:#8494aa;` +
	`--net-read:#64748b;--net-inhibit:#f87171;--net-reset:#fb923c;--net-env:#60a5fa;--net-output:#4ade80}}`
