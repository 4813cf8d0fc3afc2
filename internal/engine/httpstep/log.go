package httpstep

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// log is the record of an exchange, which is the standard error of the step.
type log struct {
	mask *steps.Mask
	text strings.Builder
}

func (l *log) line(format string, args ...any) {
	l.text.WriteString(l.mask.String(fmt.Sprintf(format, args...)) + "\n")
}

func (l *log) sent(q call.FetchRequest) {
	l.line("> %s %s", q.Method, shownURL(q.URL))
	for _, h := range q.Header {
		l.line("> %s: %s", h[0], shownField(h[0], h[1]))
	}
	if q.Body != nil {
		l.line("> (%d bytes)", len(q.Body))
	}
}

func (l *log) received(answer *call.FetchAnswer, took time.Duration) {
	l.line("< %d %s", answer.Status, answer.StatusText)
	header := slices.Clone(answer.Header)
	slices.SortStableFunc(header, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	for _, h := range header {
		l.line("< %s: %q", h[0], shownField(h[0], h[1]))
	}
	l.line("< (%d bytes in %d ms)", answer.Size, took.Milliseconds())
}

// shownField hides the value of a header or a parameter whose name says that it is a secret.
func shownField(name, value string) string {
	name = strings.ToLower(name)
	if name == "idempotency-key" {
		return value
	}
	for _, part := range []string{"auth", "cookie", "token", "secret", "passw", "key", "signature"} {
		if strings.Contains(name, part) {
			return steps.Replacement
		}
	}
	return value
}

// shownURL hides the parameters of a URL whose names say that they are secrets.
func shownURL(text string) string {
	before, query, ok := strings.Cut(text, "?")
	if !ok {
		return text
	}
	parts := strings.Split(query, "&")
	for i, p := range parts {
		if name, v, ok := strings.Cut(p, "="); ok {
			parts[i] = name + "=" + shownField(name, v)
		}
	}
	return before + "?" + strings.Join(parts, "&")
}
