package builtin

import (
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"strings"
)

// textAnswer returns a text for the model, with a newline at its end, and a text for the person; "" for the same text.
func textAnswer(text, display string) *gostep.Content {
	return gostep.TextContent(text+"\n", display)
}

// plural returns a number of things in words.
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

// were returns a number of things with the verb "was" or "were".
func were(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return plural(n, thing) + " were"
}

// size returns a number of bytes in a readable form.
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
