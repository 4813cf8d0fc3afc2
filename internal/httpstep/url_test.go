package httpstep

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/call"
)

// TestEncode checks that a value stays data in the path and the query of a URL.
func TestEncode(t *testing.T) {
	for _, c := range []struct{ before, value, want string }{
		{"", "https://h/p?q", "https://h/p?q"},
		{"https://", "h:80", "h:80"},
		{"https://h/", "a/b?c#d e%2F", "a%2Fb%3Fc%23d%20e%252F"},
		{"https://h/?q=", "a&b=c d", "a%26b%3Dc+d"},
		{"https://h?q=", "/&", "%2F%26"},
	} {
		if got := encode(c.before, c.value); got != c.want {
			t.Errorf("encode(%q, %q) = %q, want %q", c.before, c.value, got, c.want)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://h/a":          "",
		"https://h:8/a.b/..c": "",
		"ftp://h/":            `cannot send a request to an address with the scheme "ftp"; use http:// or https://`,
		"h/a":                 `cannot send a request to an address with the scheme ""; use http:// or https://`,
		"http:///a":           "the url has no host; write http://HOST/PATH",
		"http://u:p@h/":       "the url contains a user or a password; write them under auth.basic",
		"http://h/a/../b":     "the path of the url contains . or .. as a part, which would lead to another address",
		"http://h/%2e%2E/b":   "the path of the url contains . or .. as a part, which would lead to another address",
		"http://h/%zz":        "the url is not valid; write http://HOST/PATH, and escape special characters as %XX",
	} {
		got := ""
		if _, err := ParseAddress(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("ParseAddress(%q) = %q, want %q", text, got, want)
		}
	}
}

// parameters are the values of a request. Every name of one letter is a parameter.
type parameters map[string]string

func (p parameters) Symbol(id string) expr.Symbol {
	if len(id) != 1 {
		return expr.Symbol{}
	}
	return expr.Symbol{Class: expr.Parameter, Type: "string"}
}

func (p parameters) Lookup(r expr.Ref) (expr.Value, error) { return expr.Value{V: p[r.Root]}, nil }

// TestEmptyPart checks that an empty value does not send a request to another address.
func TestEmptyPart(t *testing.T) {
	const refused = "an empty value makes a part of the path of the url empty, which would lead to another address"
	for _, c := range []struct{ url, a, b, want string }{
		{"https://h/users/{A}", "7", "", ""},
		{"https://h/users/{A}", "", "", refused},
		{"https://h/users/{A}/keys", "", "", refused},
		{"https://h/users/{A}?x=1", "", "", refused},
		{"https://h/users/{A}#x", "", "", refused},
		{"https://h/{A}", "", "", refused},
		{"https://h/{A}/{B}", "1", "", refused},
		{"https://h/{A}{B}", "", "", refused},
		{"https://h/{A}{B}", "", "1", ""},
		{"https://h/{A}{B}", "1", "", ""},
		{"https://h/v{A}", "", "", ""},
		{"https://h/{A}.json", "", "", ""},
		{"https://h//users/", "", "", ""},
		{"https://h/users/?id={A}/", "", "", ""},
		{"{B}/users/{A}", "", "https://h", refused},
	} {
		tpl, problems := expr.ParseTemplate(c.url, expr.Plain, parameters{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		got := ""
		if _, err := (&Runner{URL: tpl}).address(parameters{"A": c.a, "B": c.b}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s with %q and %q: %q, want %q", c.url, c.a, c.b, got, c.want)
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
