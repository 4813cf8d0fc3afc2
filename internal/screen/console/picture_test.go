package console

import (
	"fmt"
	"html"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// picture is the file in docs that README shows.
const picture = "../../../docs/images/terminal.svg"

// TestPicture draws the terminal during a run of the tool deploy of README.
func TestPicture(t *testing.T) {
	zero := time.Date(2026, 11, 28, 8, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
	tr := newTree(PlanInfo{
		Tool: "deploy",
		Steps: func(path string) []string {
			return map[string][]string{"": {"test", "lint", "build", "ship", "report"}}[path]
		},
		Upstream: func(path string) []string {
			return map[string][]string{"build": {"test", "lint"}, "ship": {"build"}, "report": {"ship"}}[path]
		},
		Handler: func(string) bool { return false },
		Lasting: func(string) bool { return false },
	})
	result := func(from, to int, s dag.Status, code int) *dag.Result {
		return &dag.Result{Status: s, ExitCode: code, Attempts: 1, Started: at(from), Ended: at(to)}
	}
	for _, e := range []dag.Event{
		{Kind: dag.RunStarted, Run: "1m8gg3dz7hj4m", Time: at(0)},
		{Kind: dag.StepStarted, Node: "test", Attempt: 1, Time: at(0)},
		{Kind: dag.StepStarted, Node: "lint", Attempt: 1, Time: at(0)},
		{Kind: dag.StepFinished, Node: "lint", Time: at(2_140), Result: result(0, 2_140, dag.Succeeded, 0)},
		{Kind: dag.StepFinished, Node: "test", Time: at(7_820), Result: result(0, 7_820, dag.Succeeded, 0)},
		{Kind: dag.StepStarted, Node: "build", Attempt: 1, Time: at(7_820)},
		{Kind: dag.StepRetrying, Node: "build", Time: at(9_300), Due: at(10_300), Result: result(7_820, 9_300, dag.Failed, 1)},
		{Kind: dag.StepStarted, Node: "build", Attempt: 2, Time: at(10_300)},
	} {
		tr.apply(e)
	}
	tr.Find("build").Data.tail.lines = []string{"example.com/service/api", "example.com/service/cmd/service"}
	c := canvas{cols: 76, rows: 24, color: true, now: at(14_000)}
	lines := append([]string{"$ flowrun run deploy TARGET=staging"}, tr.frame(c, tr.choose(c.height()-1))...)
	got := svgOf(lines, c.cols)
	if *update {
		if err := os.WriteFile(picture, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(picture); err != nil || string(want) != got {
		t.Errorf("%s does not show what the terminal shows now (%v); look at it and run go test -update\n%s", picture, err, strings.Join(lines, "\n"))
	}
}

// svgOf draws lines with escape sequences as a dark terminal.
func svgOf(lines []string, cols int) string {
	const charWidth, lineHeight, margin = 8.4, 20, 16
	colors := map[string]string{green: "#7ee787", red: "#ff7b72", yellow: "#e3b341", cyan: "#56d4dd", dim: "#8b949e"}
	var b strings.Builder
	width, height := charWidth*float64(cols)+2*margin, lineHeight*len(lines)+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" aria-label="flowrun in a terminal: two steps are done, one runs, two wait">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>`+"\n"+`<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">`+"\n")
	sequence := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for i, line := range lines {
		style, at := "", 0
		draw := func(text string) {
			if word := strings.TrimLeft(text, " "); word != "" {
				x := margin + charWidth*float64(at+len(text)-len(word))
				word = strings.TrimRight(word, " ")
				length := charWidth * float64(columns(word)) // as wide as in a terminal, whatever the font
				word = strings.ReplaceAll(html.EscapeString(word), " ", "\u00a0")
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f"%s>%s</text>`+"\n", x, margin+lineHeight*i+15, length, style, word)
			}
			at += columns(text)
		}
		from := 0
		for _, m := range sequence.FindAllStringIndex(line, -1) {
			draw(line[from:m[0]])
			style, from = "", m[1]
			if color, ok := colors[line[m[0]:m[1]]]; ok {
				style = fmt.Sprintf(` fill="%s"`, color)
			} else if line[m[0]:m[1]] == bold {
				style = ` font-weight="bold"`
			}
		}
		draw(line[from:])
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
