package config

import (
	"errors"
	"net/url"
	"strings"
)

// checkTools reports problems of commands and of the section tools that the table cannot express.
func (l *loader) checkTools() {
	for _, v := range l.values {
		text, _ := v.Value.(string)
		switch {
		case v.Key == "tools.searchUrl":
			if err := CheckSearchURL(text); err != nil {
				l.report(v.Origin.Pos, "bad-search", "invalid tools.searchUrl: "+err.Error(), "write one such as https://searx.example/search?format=json&q={query}")
			}
		case v.Key == "tools.searchKeyHeader" && !headerNames().MatchString(text):
			l.report(v.Origin.Pos, "bad-search", "tools.searchKeyHeader is not a valid header name", "write one such as X-API-Key")
		}
	}
}

// CheckSearchURL returns an error if a value of tools.searchUrl is invalid.
func CheckSearchURL(written string) error {
	u, err := url.Parse(strings.ReplaceAll(written, "{query}", "q"))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("it is not a URL that starts with http:// or https://")
	case u.User != nil:
		return errors.New("it contains credentials; put the key in a variable and name it in tools.searchKeyEnv")
	case !strings.Contains(written, "{query}"):
		return errors.New("the placeholder {query} for the search words is missing")
	}
	_, rest, _ := strings.Cut(written, "://")
	if end := strings.IndexAny(rest, "/?#"); end < 0 || strings.Contains(rest[:end], "{query}") {
		return errors.New("{query} must come after the host")
	}
	return nil
}
