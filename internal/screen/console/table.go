package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// TableOptions configure how a Table is drawn. The zero TableOptions are right for a pipe.
type TableOptions struct {
	// Width is the maximum width of a line in columns. The last cell is cut to fit and marked
	// with an ellipsis. If that would leave no space for the last column, the widest other
	// columns are narrowed too. 0 means no limit.
	Width int
	// Color returns the escape sequence for a cell (see StyleOf), or "" for none. It is
	// called for every cell of the rows with the whole cleaned text; col counts from 0. nil
	// means no color.
	Color func(col int, cell string) string
}

// gap is the space between two cells of a line.
const gap = "  "

// Table writes rows in aligned columns, below the header if it is not nil. Rows may have
// different lengths. Cells may contain anything: control characters are replaced and line breaks
// become spaces. It returns the error of the writer.
func Table(w io.Writer, header []string, rows [][]string, o TableOptions) error {
	lines := make([][]string, 0, len(rows)+1)
	if header != nil {
		lines = append(lines, cleanCells(header))
	}
	for _, row := range rows {
		lines = append(lines, cleanCells(row))
	}
	widths := columnWidths(lines)
	if o.Width > 0 {
		narrowColumns(widths, o.Width)
	}
	var b strings.Builder
	for i, cells := range lines {
		color := o.Color
		if header != nil && i == 0 {
			color = nil
		}
		tableLine(&b, cells, widths, o.Width, color)
	}
	_, err := io.WriteString(w, b.String())
	return err
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
	minLastColumn     = 12 // minimum width of the last column
	minNarrowedColumn = 20 // width to which the widest of the other columns are narrowed first
	minAnyColumn      = 8  // width to which they are narrowed if that is not enough
)

// narrowColumns narrows the widest columns except the last, as far as the last one needs space.
func narrowColumns(widths []int, width int) {
	last := len(widths) - 1
	if last < 1 {
		return
	}
	over := min(widths[last], minLastColumn) - width
	for _, n := range widths[:last] {
		over += n + len(gap)
	}
	for _, least := range []int{minNarrowedColumn, minAnyColumn} {
		for over > 0 {
			widest := slices.Index(widths[:last], slices.Max(widths[:last]))
			if widths[widest] <= least {
				break
			}
			widths[widest]--
			over--
		}
	}
}

// tableLine writes one line, without spaces for empty cells at its end.
func tableLine(b *strings.Builder, cells []string, widths []int, width int, color func(int, string) string) {
	for len(cells) > 0 && cells[len(cells)-1] == "" {
		cells = cells[:len(cells)-1]
	}
	at := 0
	for i, cell := range cells {
		room := widths[i]
		if width > 0 && i == len(widths)-1 {
			room = max(1, width-at)
		}
		text := cut(cell, room, "…")
		b.WriteString(colorCell(text, color, i, cell))
		if i < len(cells)-1 {
			for range widths[i] - columns(text) {
				b.WriteByte(' ')
			}
			b.WriteString(gap)
			at += widths[i] + len(gap)
		}
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
