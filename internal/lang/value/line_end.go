package value

import (
	"runtime"
	"strings"
)

// WithoutLineEnd returns a text without one line end at its end: \n, and on Windows also
// \r\n. Elsewhere programs print a \r only if they mean it.
func WithoutLineEnd(s string) string { return withoutLineEnd(s, runtime.GOOS) }

func withoutLineEnd(s, goos string) string {
	text, ended := strings.CutSuffix(s, "\n")
	if ended && goos == "windows" {
		text = strings.TrimSuffix(text, "\r")
	}
	return text
}
