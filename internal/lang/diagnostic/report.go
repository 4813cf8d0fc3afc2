package diagnostic

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/plural"
)

// MaxDiagnostics is the maximum number of problems of one file in a document.
const MaxDiagnostics = 100

// CodeMore is the code of a diagnostic that stands for problems that are left out.
const CodeMore = "more-problems"

// Reported returns d, which is sorted by position, with at most MaxDiagnostics problems of each file: errors first, then
// warnings, because a file with errors must not look as if it could be loaded. For what is left out of a file there is one
// more diagnostic of each severity, at the first of them, which says how many there are (More).
func Reported(d Diagnostics) Diagnostics {
	var reported Diagnostics
	for len(d) > 0 {
		end := slices.IndexFunc(d, func(one Diagnostic) bool { return one.Pos.File != d[0].Pos.File })
		if end < 0 {
			end = len(d)
		}
		reported = append(reported, ofOneFile(d[:end])...)
		d = d[end:]
	}
	return reported
}

func ofOneFile(d Diagnostics) Diagnostics {
	shown, left := WorstFirst(d, MaxDiagnostics)
	if len(left) == 0 {
		return d
	}
	for _, s := range severities {
		first := slices.IndexFunc(left, func(one Diagnostic) bool { return one.Severity == s })
		if first < 0 {
			continue
		}
		n, are := Count(left, s), "are"
		if n == 1 {
			are = "is"
		}
		shown = append(shown, Diagnostic{Code: CodeMore, Severity: s, Pos: left[first].Pos, More: n,
			Message: fmt.Sprintf("%s here and below %s left out", plural.Of(n, "more "+string(s)), are), Hint: "fix the others first"})
	}
	slices.SortStableFunc(shown, byPos)
	return shown
}

// WorstFirst splits d into the first n, errors before warnings before notes, and the rest. Within a severity the order
// stays.
func WorstFirst(d Diagnostics, n int) (first, rest Diagnostics) {
	d = slices.Clone(d)
	slices.SortStableFunc(d, func(a, b Diagnostic) int { return cmp.Compare(rank(a), rank(b)) })
	n = min(n, len(d))
	return d[:n], d[n:]
}

// Count returns how many problems of a severity there are, with those that are left out.
func Count(d Diagnostics, s Severity) (n int) {
	for _, one := range d {
		if one.Severity == s {
			n += max(1, one.More)
		}
	}
	return n
}

var severities = []Severity{Error, Warning, Note}

func rank(d Diagnostic) int { return slices.Index(severities, d.Severity) }
