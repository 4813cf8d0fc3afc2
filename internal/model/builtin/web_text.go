package builtin

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/call"
	"golang.org/x/net/html/charset"
)

// webKind is the kind of a response.
type webKind struct {
	name        string // text/html
	written     string // with parameters, as the server sent it
	html, image bool
}

var images = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// texts lists media types of text that do not begin with text/.
var texts = []string{"application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/x-javascript",
	"application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson", "application/sql", "application/x-sh", "image/svg+xml"}

// webKindOf returns the kind of a response; the error says that a model cannot read it.
func webKindOf(a *call.FetchAnswer) (webKind, error) {
	written := headerOf(a, "content-type")
	if written == "" {
		written = http.DetectContentType(a.Body)
	}
	name, _, err := mime.ParseMediaType(written)
	if err != nil && name == "" {
		name = strings.ToLower(strings.TrimSpace(strings.Split(written, ";")[0]))
	}
	k := webKind{name: name, written: written, html: name == "text/html" || name == "application/xhtml+xml", image: slices.Contains(images, name)}
	if k.image || strings.HasPrefix(name, "text/") || slices.Contains(texts, name) || strings.HasSuffix(name, "+json") || strings.HasSuffix(name, "+xml") {
		return k, nil
	}
	return k, fmt.Errorf("it has the type %s (%d bytes); web_fetch supports text, HTML, JSON and images (PNG, JPEG, GIF, WebP); download anything else with a command", short(name, 100), len(a.Body))
}

func headerOf(a *call.FetchAnswer, name string) string {
	for _, h := range a.Header {
		if h[0] == name {
			return h[1]
		}
	}
	return ""
}

// readable returns a response as text, with its title if it has one.
func readable(a *call.FetchAnswer, k webKind) (title, body string) {
	text := decoded(a.Body, k)
	if k.html {
		return markdownOf(text, a.URL)
	}
	return "", text
}

// decoded converts a text to UTF-8, from the encoding that the response or the page declares. Bytes that are still
// invalid are replaced.
func decoded(body []byte, k webKind) string {
	written := k.written
	if !k.html && !strings.Contains(strings.ToLower(written), "charset") {
		written += "; charset=utf-8" // the default, except for HTML pages
	}
	e, name, _ := charset.DetermineEncoding(body, written)
	if name != "utf-8" {
		if b, err := io.ReadAll(e.NewDecoder().Reader(bytes.NewReader(body))); err == nil {
			body = b
		}
	}
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	return strings.Map(readableRune, strings.ToValidUTF8(string(body), "\uFFFD"))
}

// readableRune removes control characters of terminals and invisible characters.
func readableRune(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < ' ', r >= 0x7F && r < 0xA0, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r >= 0xE0000 && r <= 0xE0FFF:
		return -1
	}
	return r
}
