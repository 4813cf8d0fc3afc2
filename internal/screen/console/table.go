package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Column says what a Table does with a column if a terminal is too narrow. The zero Column is
// never cut: an id, a name that commands take, a state.
type Column struct {
	Title string
	// Yields is the turn of the column when space is missing: 1 yields first, and 0 never.
	Yields int
	// Whole says that the column is left out rather than cut: half a time says nothing.
	Whole bool
	// Prose says that people read the cells, such as the reason of a failure: other columns are
	// left out before less than 20 columns of it remain.
	Prose bool
}

// Columns returns columns that are never cut.
func Columns(titles ...string) []Column {
	out := make([]Column, len(titles))
	for i, t := range titles {
		out[i].Title = t
	}
	return out
}

// TableOptions configure how a Table is drawn. The zero TableOptions are right for a pipe.
type TableOptions struct {
	// Width is the maximum width of a line in columns. If the table is wider, one column after the
	// other is narrowed to 8 columns, prose to 20, in the order of Column.Yields; an ellipsis marks
	// what was cut. If that is not enough, one after the other is left out, prose once it has been
	// narrowed to 8; the last is only narrowed. What remains may exceed the width; the terminal
	// then wraps it. 0 means no limit.
	Width int
	// NoTitles leaves out the line of titles.
	NoTitles bool
	// Color returns the escape sequence for a cell (see StyleOf), or "" for none. It is
	// called for every cell of the rows with the whole cleaned text; col counts from 0. nil
	// means no color.
	Color func(col int, cell string) string
}

// gap is the space between two cells of a line.
const gap = "  "

// Table writes rows in aligned columns, below their titles. Cells may contain anything: control
// characters are replaced and line breaks become spaces. It returns the error of the writer.
func Table(w io.Writer, cols []Column, rows [][]string, o TableOptions) error {
	lines := make([][]string, 0, len(rows)+1)
	if !o.NoTitles {
		lines = append(lines, titles(cols))
	}
	for _, row := range rows {
		lines = append(lines, cleanCells(row))
	}
	widths := columnWidths(lines)
	if o.Width > 0 {
		narrowColumns(cols, widths, o.Width)
	}
	var b strings.Builder
	for i, cells := range lines {
		color := o.Color
		if !o.NoTitles && i == 0 {
			color = nil
		}
		tableLine(&b, cells, widths, color)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func titles(cols []Column) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		out[i] = c.Title
	}
	return out
}

func cleanCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.TrimRight(Clean(strings.TrimRight(c, "\r\n")), " ")
	}
	return out
}

func columnWidths(lines [][]string) []int {
	var widths []int
	for _, cells := range lines {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(c))
		}
	}
	return widths
}

const (
	narrowColumn = 8  // width to which columns are narrowed before they are left out
	proseColumn  = 20 // width to which prose is narrowed before others are left out
	leftOut      = -1 // instead of a width
)

// narrowColumns makes the widths fit into a line, as TableOptions.Width says.
func narrowColumns(cols []Column, widths []int, width int) {
	natural := slices.Clone(widths)
	yielding := yieldingColumns(cols[:min(len(cols), len(widths))])
	over := func() int { return lineWidth(widths) - width }
	narrow := func(i, least int) {
		if !cols[i].Whole && widths[i] > least {
			widths[i] = max(least, widths[i]-max(0, over()))
		}
	}
	for _, i := range yielding {
		if cols[i].Prose {
			narrow(i, proseColumn)
		} else {
			narrow(i, narrowColumn)
		}
	}
	for _, i := range yielding {
		narrow(i, narrowColumn)
		if last := i == yielding[len(yielding)-1]; over() > 0 && (cols[i].Whole || !last) {
			widths[i] = leftOut
		}
	}
	for _, i := range slices.Backward(yielding) { // what was left out may have made more space than was missing
		if widths[i] != leftOut {
			widths[i] += max(0, min(-over(), natural[i]-widths[i]))
		}
	}
}

// yieldingColumns returns the indexes of the columns that yield, in their order.
func yieldingColumns(cols []Column) []int {
	var list []int
	for i, c := range cols {
		if c.Yields > 0 {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cols[a].Yields - cols[b].Yields })
	return list
}

// lineWidth returns the width of a line with cells of these widths.
func lineWidth(widths []int) int {
	sum := -len(gap)
	for _, n := range widths {
		if n != leftOut {
			sum += n + len(gap)
		}
	}
	return sum
}

// tableLine writes one line, without spaces for empty cells at its end.
func tableLine(b *strings.Builder, cells []string, widths []int, color func(int, string) string) {
	spaces := 0 // before the next cell
	for i, cell := range cells {
		if widths[i] == leftOut {
			continue
		}
		if text := cut(cell, widths[i], "…"); text != "" {
			b.WriteString(strings.Repeat(" ", spaces))
			b.WriteString(colorCell(text, color, i, cell))
			spaces = -columns(text)
		}
		spaces += widths[i] + len(gap)
	}
	b.WriteByte('\n')
}

// colorCell returns a text in the color of its cell.
func colorCell(text string, color func(int, string) string, col int, cell string) string {
	if color == nil || text == "" {
		return text
	}
	if begin := color(col, cell); begin != "" {
		return begin + text + reset
	}
	return text
}

// Clock formats a time as people read it at the time now: 15:04:05 on the same day, Jan 2 15:04 in the
// same year, otherwise with the whole date. Both times are in the zone of t.
func Clock(t, now time.Time) string {
	now = now.In(t.Location())
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return t.Format(time.TimeOnly)
	case t.Year() == now.Year():
		return t.Format("Jan _2 15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// Age formats a time span as one word, rounded down to its largest unit: 12s, 3m, 2h, 5d. A
// negative span, which a clock that was set back can cause, is 0s.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}
