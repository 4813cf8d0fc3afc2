// Package requesturl makes the URLs of requests from templates and the values of a call. It decides for every step that
// requests a URL (http, wait) that values stay data: a request goes where the author of the definition sees it go.
package requesturl

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/privatenet"
)

// Render renders the URL of a request. Each value is escaped for the place in which it is. A value that would lead to
// another address is refused: one that is empty, . or .. as a part of the path.
func Render(t *expr.Template, sc expr.Scope) (*url.URL, error) {
	var empty []int // places in the path with an empty value
	text, err := t.EncodedText(sc, func(before, value string) string {
		if value == "" && inPath(before) {
			empty = append(empty, len(before))
		}
		return Encode(before, value)
	})
	if err != nil {
		return nil, err
	}
	if err := checkParts(text, empty); err != nil {
		return nil, err
	}
	return Parse(text)
}

// Encode escapes a value that follows before in a URL. A value with which the URL begins, or in its host, is kept as it
// is.
func Encode(before, value string) string {
	switch {
	case !expr.HasAuthority(before):
		return value
	case !inPath(before):
		return url.QueryEscape(value)
	}
	return url.PathEscape(value)
}

// inPath reports whether what follows before in a URL belongs to its path.
func inPath(before string) bool {
	return expr.HasAuthority(before) && !strings.ContainsAny(before, "?#")
}

// checkParts refuses a part of the path that is empty because of an empty value: DELETE of /users/ and an empty ID is
// another request than DELETE of one user. empty are the places of such values in the URL.
func checkParts(text string, empty []int) error {
	for _, at := range empty {
		if rest := text[at:]; text[at-1] == '/' && (rest == "" || strings.ContainsRune("/?#", rune(rest[0]))) {
			return errors.New("an empty value makes a part of the path of the url empty, which would lead to another address")
		}
	}
	return nil
}

// Parse parses the URL of a request. Its errors do not contain the text, in which secrets may be.
func Parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil: // its message contains the whole text
		return nil, errors.New("the url is not valid; write http://HOST/PATH, and escape special characters as %XX")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("cannot send a request to an address with the scheme %q; use http:// or https://", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("the url has no host; write http://HOST/PATH")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(s string) bool { return s == "." || s == ".." }):
		return nil, errors.New("the path of the url contains . or .. as a part, which would lead to another address")
	}
	if err := privatenet.CheckHost(u.Hostname()); err != nil {
		return nil, err
	}
	return u, nil
}
