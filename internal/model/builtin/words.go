package builtin

import (
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"strings"
)

// textAnswer returns a text for the model, with a newline at its end, and a text for the person; "" for the same text.
func textAnswer(text, display string) *gostep.Content {
	return gostep.TextContent(text+"\n", display)
}

// were returns a number of things with the verb "was" or "were".
func were(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " was"
	}
	return plural.Of(n, thing) + " were"
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
	return plural.Of(int(n), "byte")
}
