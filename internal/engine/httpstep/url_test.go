package httpstep

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/engine/call"
)

// parameters are the values of a request. Every name of one letter is a parameter.
type parameters map[string]string

func (p parameters) Symbol(id string) expr.Symbol {
	if len(id) != 1 {
		return expr.Symbol{}
	}
	return expr.Symbol{Class: expr.Parameter, Type: "string"}
}

func (p parameters) Lookup(r expr.Ref) (expr.Value, error) { return expr.Value{V: p[r.Root]}, nil }

// TestAddress checks that a request goes nowhere if a value leads it away, and that a password is not in its URL.
func TestAddress(t *testing.T) {
	for _, c := range []struct{ url, a, want string }{
		{"https://h/users/{A}", "a/b", ""},
		{"https://h/users/{A}", "", "an empty value makes a part of the path of the url empty, which would lead to another address"},
		{"https://h/users/{A}", "..", "the path of the url contains . or .. as a part, which would lead to another address"},
		{"https://u:p@h/{A}", "a", "the url contains a user or a password; write them under auth.basic"},
	} {
		tpl, problems := expr.ParseTemplate(c.url, expr.Plain, parameters{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		got := ""
		if _, err := (&Runner{URL: tpl}).address(parameters{"A": c.a}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s with %q: %q, want %q", c.url, c.a, got, c.want)
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
