package argparse

import (
	"html"
	"strings"
)

// escapedObject reads an object with escaped quotes but no string around it, {\"p\": 10}, or
// with HTML entities as quotes, {&quot;p&quot;: 10}.
func (d *documents) escapedObject(start, end int) (n node, done, ok bool) {
	raw := d.text[start:end]
	if raw[0] != '{' && raw[0] != '[' {
		return n, false, false
	}
	inside := strings.TrimLeft(raw[1:], " \t\r\n{[")
	for strings.HasPrefix(inside, `\n`) || strings.HasPrefix(inside, `\t`) {
		inside = strings.TrimLeft(inside[2:], " \t\r\n")
	}
	n = node{kind: quoted, off: d.at(start)}
	d.Use(len(raw))
	switch {
	case strings.HasPrefix(inside, `\"`) && !unescapedQuote(raw), strings.HasPrefix(inside, `\'`) && !strings.Contains(raw, `"`):
		text, ok := d.unescape(doubleQuotes(), start, end)
		n.text = text
		d.fix("escape", start)
		return n, true, ok
	case quoteEntity(inside) && !strings.ContainsAny(raw, `"'`):
		n.text = html.UnescapeString(raw)
		d.fix("escape", start)
		return n, true, true
	}
	return n, false, false
}

// quoteEntity reports whether a text starts with an HTML entity for a quote.
func quoteEntity(s string) bool {
	for _, entity := range []string{"&quot;", "&#34;", "&#x22;", "&apos;", "&#39;", "&#x27;"} {
		if strings.HasPrefix(s, entity) {
			return true
		}
	}
	return false
}

// unescapedQuote reports whether s contains a double quote without a backslash before it.
func unescapedQuote(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return true
		}
	}
	return false
}
