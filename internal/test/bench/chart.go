//go:build unix

package main

import (
	"fmt"
	"html"
	"strings"
)

// The size of the chart, in pixels.
const (
	labelWidth = 190
	barWidth   = 500 // of a bar at maxRatio
	lineHeight = 18
	maxRatio   = 5.0 // longer bars are cut; their number tells
)

// chart draws a bar for each row of each table: its wall time as a multiple of the limit.
func chart(tables []*table) string {
	var body strings.Builder
	y := 0
	text := func(x int, style, s string) {
		fmt.Fprintf(&body, "<text x='%d' y='%d'%s>%s</text>\n", x, y+13, style, html.EscapeString(s))
	}
	for _, t := range tables {
		y += lineHeight / 2
		text(4, " font-weight='bold'", t.workload.title)
		y += lineHeight
		for _, r := range t.rows[1:] {
			text(12, "", r.name)
			ratios := r.wallRatios(t.rows[0].samples)
			if ratios == nil {
				text(labelWidth, "", "failed")
				y += lineHeight
				continue
			}
			wall := median(ratios)
			color := "#9aa5b1"
			if strings.HasPrefix(r.name, "flowrun") {
				color = "#2f6fde"
			}
			width := int(min(wall, maxRatio) / maxRatio * barWidth)
			fmt.Fprintf(&body, "<rect x='%d' y='%d' width='%d' height='%d' fill='%s'/>\n", labelWidth, y+2, width, lineHeight-4, color)
			text(labelWidth+width+6, "", fmt.Sprintf("%.2f", wall))
			y += lineHeight
		}
	}
	x := labelWidth + int(barWidth/maxRatio)
	width, height := labelWidth+barWidth+60, y+lineHeight/2
	return fmt.Sprintf("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' font-family='sans-serif' font-size='12'>\n"+
		"<rect width='%[1]d' height='%[2]d' fill='white'/>\n%s<path d='M%d 0V%[2]d' stroke='#c0392b' stroke-dasharray='4 3'/>\n</svg>\n", width, height, body.String(), x)
}
