package console

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// TableOptions say how a Table is drawn. The zero TableOptions suit a pipe.
type TableOptions struct {
	// Width is how many columns a line may take; what is over it is cut off the
	// last cell and marked by an ellipsis. Where that alone would leave no room for
	// the last column, the widest one gives way too. 0 cuts nothing.
	Width int
	// Color is the escape sequence to begin a cell with (see StatusColor), "" for
	// none. It is asked for every cell of the rows, with the whole cleaned text;
	// col counts from 0. nil colours nothing.
	Color func(col int, cell string) string
}

// gap is what stands between two cells of a line.
const gap = "  "

// Table writes rows in aligned columns, below the header where it is not nil. Rows
// may be shorter than others. Cells may hold anything: control characters are
// made harmless and line breaks become blanks. The error is the writer's.
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
		fit(widths, o.Width)
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

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ")

func cleanCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.TrimRight(Clean(oneLine.Replace(strings.TrimRight(c, "\r\n"))), " ")
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
	leastNote = 12 // columns that the last cell should have
	leastCell = 20 // columns that are left of another one that gives way
)

// fit makes the widest column but the last narrower, as far as the last needs room.
func fit(widths []int, width int) {
	last := len(widths) - 1
	if last < 1 {
		return
	}
	over, widest := min(widths[last], leastNote)-width, 0
	for i, n := range widths[:last] {
		over += n + len(gap)
		if n > widths[widest] {
			widest = i
		}
	}
	if n := widths[widest]; over > 0 && n > leastCell {
		widths[widest] = max(n-over, leastCell)
	}
}

// tableLine writes one line. Empty cells at its end leave nothing behind.
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
		b.WriteString(painted(text, color, i, cell))
		if i < len(cells)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-columns(text)) + gap)
			at += widths[i] + len(gap)
		}
	}
	b.WriteByte('\n')
}

// painted is a text in the colour of its cell.
func painted(text string, color func(int, string) string, col int, cell string) string {
	if color == nil || text == "" {
		return text
	}
	if begin := color(col, cell); begin != "" {
		return begin + text + reset
	}
	return text
}

// Age is a time span in one word, rounded down to its largest unit: 12s, 3m, 2h,
// 5d. A negative one, of a clock that was set back, is 0s.
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
