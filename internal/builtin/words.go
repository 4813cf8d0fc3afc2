package builtin

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun"
)

// answer is a text for the model, which ends with its line, and what a person is shown; ""
// for the same.
func answer(text, display string) *flowrun.Content {
	return flowrun.TextContent(text+"\n", display)
}

// plural is a number of things in words.
func plural(n int, thing string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case strings.HasSuffix(thing, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(thing, "y"))
	case strings.HasSuffix(thing, "ch"):
		return fmt.Sprintf("%d %ses", n, thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// were is a number of things of which something is said.
func were(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return plural(n, thing) + " were"
}

// size is a number of bytes for people.
func size(n int64) string {
	for _, unit := range []struct {
		name  string
		bytes int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if n >= unit.bytes {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.bytes)), ".0") + " " + unit.name
		}
	}
	return plural(int(n), "byte")
}
