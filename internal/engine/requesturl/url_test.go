package requesturl

import (
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
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

// TestRender checks that a value stays data in a URL: the request goes where its author sees it go, or nowhere.
func TestRender(t *testing.T) {
	const empty = "an empty value makes a part of the path of the url empty, which would lead to another address"
	const dots = "the path of the url contains . or .. as a part, which would lead to another address"
	for _, c := range []struct{ url, a, b, want string }{
		{"{A}", "https://h/p?q=1", "", "https://h/p?q=1"},
		{"{A}/ready", "https://h", "", "https://h/ready"},
		{"https://{A}/", "h:80", "", "https://h:80/"},
		{"https://h/{A}", "a/b?c#d e%2F", "", "https://h/a%2Fb%3Fc%23d%20e%252F"},
		{"https://h/?q={A}", "a&b=c d", "", "https://h/?q=a%26b%3Dc+d"},
		{"https://h?q={A}", "/&", "", "https://h?q=%2F%26"},
		{"https://joe:x@h/{A}", "a", "", "https://joe:x@h/a"},
		{"https://h/a.b/..{A}", "c", "", "https://h/a.b/..c"},
		{"https://h/v1/{A}", "..", "", dots},
		{"https://h/v1/{A}/x", ".", "", dots},
		{"https://h/v1/.{A}", ".", "", dots},
		{"https://h/v1/{A}/x", "../../admin", "", dots},
		{"{A}/x", "https://h/%2e%2E", "", dots},
		{"https://h/a/../b", "", "", dots},
		{"https://h/users/{A}", "7", "", "https://h/users/7"},
		{"https://h/users/{A}", "", "", empty},
		{"https://h/users/{A}/keys", "", "", empty},
		{"https://h/users/{A}?x=1", "", "", empty},
		{"https://h/users/{A}#x", "", "", empty},
		{"https://h/{A}", "", "", empty},
		{"https://h/{A}/{B}", "1", "", empty},
		{"https://h/{A}{B}", "", "", empty},
		{"{B}/users/{A}", "", "https://h", empty},
		{"https://h/{A}{B}", "", "1", "https://h/1"},
		{"https://h/{A}{B}", "1", "", "https://h/1"},
		{"https://h/v{A}", "", "", "https://h/v"},
		{"https://h/{A}.json", "", "", "https://h/.json"},
		{"https://h//users/", "", "", "https://h//users/"},
		{"https://h/users/?id={A}/", "", "", "https://h/users/?id=/"},
	} {
		tpl, problems := expr.ParseTemplate(c.url, expr.Plain, parameters{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		got := ""
		if u, err := Render(tpl, parameters{"A": c.a, "B": c.b}); err != nil {
			got = err.Error()
		} else {
			got = u.String()
		}
		if got != c.want {
			t.Errorf("%s with %q and %q: %q, want %q", c.url, c.a, c.b, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"http://h/a":              "",
		"https://u:p@h:8/a.b/..c": "",
		"ftp://h/":                `cannot send a request to an address with the scheme "ftp"; use http:// or https://`,
		"h/a":                     `cannot send a request to an address with the scheme ""; use http:// or https://`,
		"http:///a":               "the url has no host; write http://HOST/PATH",
		"http://h/a/../b":         "the path of the url contains . or .. as a part, which would lead to another address",
		"http://h/%2e%2E/b":       "the path of the url contains . or .. as a part, which would lead to another address",
		"http://h/%zz":            "the url is not valid; write http://HOST/PATH, and escape special characters as %XX",
	} {
		got := ""
		if _, err := Parse(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("Parse(%q) = %q, want %q", text, got, want)
		}
	}
}
