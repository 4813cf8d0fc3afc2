// Package readingtest holds how flowrun reads what other programs write. A table has one input a line, and below it, after
// an arrow, what flowrun makes of it:
//
//	# a comment
//	{"type": "text", "text": "hi"}
//	-> "hi"
//
// Check compares all readings of a table with what a function returns; with -update it writes them, which a person then reads.
package readingtest

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the tables of readings")

const arrow = "->"

// Check reads every input of a table with a function. least is how many inputs the table must have.
func Check(t *testing.T, file string, least int, read func(t *testing.T, input string) string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	inputs := 0
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, arrow) {
			continue
		}
		if out = append(out, line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		inputs++
		got, want := strings.TrimSpace(arrow+" "+strings.ReplaceAll(read(t, line), "\n", " | ")), ""
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], arrow) {
			want = lines[i+1]
		}
		if out = append(out, got); got != want && !*update {
			t.Errorf("%s:%d: %s\n got %s\nwant %s", file, i+1, line, got, want)
		}
	}
	if inputs < least {
		t.Errorf("%s has %d inputs, want %d", file, inputs, least)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
