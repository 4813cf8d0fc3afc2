package httpstep

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// TestAddress checks that the rules of package requesturl apply, and that a password is not in the URL.
func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"https://h/users/..": "the path of the url contains . or .. as a part, which would lead to another address",
		"https://u:p@h/a":    "the url contains a user or a password; write them under auth.basic",
	} {
		tpl, problems := expr.ParseTemplate(text, expr.Plain, nil)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if _, err := (&Runner{URL: tpl}).address(nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestRetry checks after which statuses a retry may help, and how long the server asks to wait.
func TestRetry(t *testing.T) {
	for status, want := range map[int]bool{301: false, 400: false, 401: false, 404: false, 408: true, 409: false, 425: true, 429: true, 500: true, 501: false, 502: true, 503: true, 504: true, 505: false} {
		if got := retryable(status); got != want {
			t.Errorf("retryable(%d) = %v", status, got)
		}
	}
	now := time.Date(2026, 11, 23, 21, 0, 0, 0, time.UTC)
	for text, want := range map[string]int32{"": 0, "7": 7, "-1": 0, "1e9": 0, "99999999": 3600, "soon": 0,
		"Mon, 23 Nov 2026 21:01:00 GMT": 60, "Mon, 23 Nov 2026 20:01:00 GMT": 0} {
		if got := retryAfter(&call.FetchAnswer{Header: [][2]string{{"retry-after", text}}}, now); got != want {
			t.Errorf("retryAfter(%q) = %v, want %v", text, got, want)
		}
	}
}
