package console

import (
	"fmt"
	"io"
	"strings"
)

// context is how many equal lines stand around a change.
const context = 3

// Diff writes the lines in which two texts of a file differ, as diff -u does. The texts
// are those of one file before and after few changes: what lies between the first and
// the last of them is compared line by line, at a cost that is the product of both sides.
func Diff(w io.Writer, name, before, after string) error {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	hunks := hunksOf(edits(trimEmpty(a), trimEmpty(b)))
	if len(hunks) == 0 {
		return nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for _, h := range hunks {
		h.write(&out)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// trimEmpty takes off the empty line that SplitAfter finds behind a last line end.
func trimEmpty(lines []string) []string {
	if n := len(lines); n > 0 && lines[n-1] == "" {
		return lines[:n-1]
	}
	return lines
}

// edit is one line of a comparison: ' ' in both, '-' before only, '+' after only.
type edit struct {
	sign byte
	line string
	a, b int // how many lines of each side stand before it
}

// edits lines two texts up by their longest common subsequence.
func edits(a, b []string) []edit {
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		from++
	}
	enda, endb := len(a), len(b)
	for enda > from && endb > from && a[enda-1] == b[endb-1] {
		enda, endb = enda-1, endb-1
	}
	var list []edit
	add := func(sign byte, line string, i, j int) { list = append(list, edit{sign, line, i, j}) }
	for i := range from {
		add(' ', a[i], i, i)
	}
	common := lengths(a[from:enda], b[from:endb])
	i, j := from, from
	for i < enda || j < endb {
		switch {
		case i < enda && j < endb && a[i] == b[j]:
			add(' ', a[i], i, j)
			i, j = i+1, j+1
		case j == endb || i < enda && common[i+1-from][j-from] >= common[i-from][j+1-from]:
			add('-', a[i], i, j)
			i++
		default:
			add('+', b[j], i, j)
			j++
		}
	}
	for ; i < len(a); i, j = i+1, j+1 {
		add(' ', a[i], i, j)
	}
	return list
}

// lengths is how long the common subsequence of the rest of both sides is, from every
// pair of lines on.
func lengths(a, b []string) [][]int {
	l := make([][]int, len(a)+1)
	for i := range l {
		l[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				l[i][j] = l[i+1][j+1] + 1
			} else {
				l[i][j] = max(l[i+1][j], l[i][j+1])
			}
		}
	}
	return l
}

// hunk is changes that stand close together, with the lines around them.
type hunk []edit

func hunksOf(list []edit) []hunk {
	var hunks []hunk
	for i := 0; i < len(list); i++ {
		if list[i].sign == ' ' {
			continue
		}
		start, end := max(0, i-context), i+1
		for j := i + 1; j < len(list) && j < end+2*context; j++ {
			if list[j].sign != ' ' {
				end = j + 1
			}
		}
		hunks = append(hunks, list[start:min(end+context, len(list))])
		i = end
	}
	return hunks
}

func (h hunk) write(w *strings.Builder) {
	var before, after int
	for _, e := range h {
		if e.sign != '+' {
			before++
		}
		if e.sign != '-' {
			after++
		}
	}
	fmt.Fprintf(w, "@@ -%s +%s @@\n", span(h[0].a, before), span(h[0].b, after))
	for _, e := range h {
		w.WriteByte(e.sign)
		w.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			w.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

func span(from, n int) string {
	if n > 0 {
		from++ // lines count from 1; of no lines, the one before is named
	}
	if n == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from, n)
}
