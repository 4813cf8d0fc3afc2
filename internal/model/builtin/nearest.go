package builtin

import (
	"fmt"
	"iter"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/plural"
)

// nearest describes the part of a text that is most similar to a piece which the text does not contain: how far the
// two agree, or which line is most like the first line of the piece. It only helps people and models to see their
// mistake; nothing is replaced because of it.
func nearest(text, piece string) string {
	if newlines(text) == "" && strings.Contains(text, "\r\n") && strings.Contains(piece, "\n") {
		return "The file mixes \\r\\n and \\n line endings, and old_string must have the same ones; use a shorter old_string on a single line."
	}
	have, want := splitLines(text), splitLines(piece)
	for len(want) > 1 && strings.TrimSpace(want[0]) == "" {
		want = want[1:]
	}
	if strings.TrimSpace(want[0]) == "" {
		return "old_string contains only spaces and line breaks."
	}
	if at, run := longestRun(have, want); run > 0 {
		return compare(have, want, at, run)
	}
	if at := mostSimilar(have, want[0]); at >= 0 {
		return fmt.Sprintf("The line most similar to its first line is line %d: %s.", at+1, quotedLine(have[at]))
	}
	return "No line is similar to the first line of old_string; read the file again."
}

func splitLines(text string) []string {
	return strings.Split(strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\r\n", "\n"), "\n")
}

func quotedLine(line string) string {
	short, cut := firstChars(line, 120)
	if cut {
		short += "..."
	}
	return fmt.Sprintf("%q", short)
}

// longestRun returns where the longest sequence of lines of want begins, starting with the first one and ignoring
// spaces around lines.
func longestRun(have, want []string) (at, run int) {
	trimmed := make([]string, len(want))
	for i, w := range want {
		trimmed[i] = strings.TrimSpace(w)
	}
	budget := 1_000_000 // limits the comparisons in a text of equal lines
	for i := range have {
		n := 0
		for n < len(trimmed) && i+n < len(have) && strings.TrimSpace(have[i+n]) == trimmed[n] && budget > 0 {
			n++
			budget--
		}
		if n > run {
			at, run = i, n
		}
	}
	return at, run
}

// compare describes where a sequence of matching lines stops matching.
func compare(have, want []string, at, run int) string {
	for n := range run {
		if have[at+n] != want[n] {
			return fmt.Sprintf("From line %d it differs only in spaces: line %d is %s in the file and %s in old_string.",
				at+1, at+n+1, quotedLine(have[at+n]), quotedLine(want[n]))
		}
	}
	switch {
	case run == len(want):
		return fmt.Sprintf("All its lines are in the file, starting at line %d, but the text around them differs; check the spaces at its beginning and end.", at+1)
	case at+run == len(have):
		return fmt.Sprintf("It matches from line %d, but the file ends at line %d.", at+1, len(have))
	}
	return fmt.Sprintf("It matches %s from line %d; line %d is %s in the file and %s in old_string.",
		plural.Of(run, "line"), at+1, at+run+1, quotedLine(have[at+run]), quotedLine(want[run]))
}

// mostSimilar returns the index of the line that shares the most pairs of adjacent bytes with another line, -1 if none
// shares at least half of them.
func mostSimilar(have []string, line string) int {
	line = beginning(line)
	wanted := make([]int, 1<<16) // count of each pair in line
	for p := range pairs(line) {
		wanted[p]++
	}
	best, at := 0.5, -1
	var common []uint16
	for i, h := range have {
		h = beginning(h)
		common = common[:0]
		for p := range pairs(h) {
			if wanted[p] > 0 {
				wanted[p]--
				common = append(common, p)
			}
		}
		for _, p := range common {
			wanted[p]++
		}
		if alike := 2 * float64(len(common)) / float64(max(len(h)+len(line)-2, 1)); alike > best {
			best, at = alike, i
		}
	}
	return at
}

// beginning returns the part of a line that is compared, without spaces around it.
func beginning(line string) string { return strings.TrimSpace(line[:min(len(line), 200)]) }

// pairs yields each pair of adjacent bytes of a line.
func pairs(line string) iter.Seq[uint16] {
	return func(yield func(uint16) bool) {
		for i := range max(len(line)-1, 0) {
			if !yield(uint16(line[i])<<8 | uint16(line[i+1])) {
				return
			}
		}
	}
}
