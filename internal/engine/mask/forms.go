package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// form is one way in which a secret may be printed.
type form struct {
	text  string
	wraps bool // a line end may be between any two of its bytes (base64)
}

// cannotMatch is a cheap first test: it returns true for most data that does not match, from the
// second byte alone. data starts with the first byte of the form.
func (f *form) cannotMatch(data []byte) bool {
	return len(data) > 1 && data[1] != f.text[1] && (!f.wraps || data[1] != '\n' && data[1] != '\r')
}

// match returns how many bytes at the start of data the form covers, or 0. ended means that data is
// too short to decide.
func (f *form) match(data []byte) (n int, ended bool) {
	switch {
	case f.wraps:
		return f.matchWrapped(data)
	case len(f.text) > len(data):
		return 0, f.text[:len(data)] == string(data) // not HasPrefix, which would need a copy of data
	case string(data[:len(f.text)]) == f.text:
		return len(f.text), false
	}
	return 0, false
}

// matchWrapped is match for a form in which \n or \r\n may be between any two bytes.
func (f *form) matchWrapped(data []byte) (n int, ended bool) {
	for k := range len(f.text) {
		if k > 0 && n < len(data) && data[n] == '\r' {
			if n++; n < len(data) && data[n] != '\n' {
				return 0, false
			}
		}
		if k > 0 && n < len(data) && data[n] == '\n' {
			n++
		}
		switch {
		case n == len(data):
			return 0, true
		case data[n] != f.text[k]:
			return 0, false
		}
		n++
	}
	return n, false
}

// forms returns the ways in which a value may be printed. It leaves out those that are shorter than
// MinSecret.
func forms(v string) []form {
	var out []form
	for _, text := range append(escaped(v), quoted(v)...) {
		out = append(out, form{text: text})
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			out = append(out, form{text: base64At(enc, v, shift), wraps: true})
		}
	}
	return slices.DeleteFunc(out, func(f form) bool { return len(f.text) < MinSecret })
}

// base64At returns the part of v's base64 that does not depend on the bytes around v, if v starts
// shift bytes (mod 3) into the encoded text: the characters that contain only bits of v.
func base64At(enc *base64.Encoding, v string, shift int) string {
	text := enc.EncodeToString(append(make([]byte, shift), v...))
	first := (shift*8 + 5) / 6
	last := (shift + len(v)) * 8 / 6
	return text[first:last]
}

// escaped returns v as it is, as URLs, HTML and JSON contain it, and as further JSON contains its JSON and
// HTML: a loop and a script put what a step printed, which may be JSON in JSON, into JSON once more.
func escaped(v string) []string {
	query := url.QueryEscape(v)
	percent := strings.ReplaceAll(query, "+", "%20") // {X:urlencode}, @uri of jq
	out := []string{v, query, percent, strings.ReplaceAll(percent, "%2F", "/"), url.PathEscape(v)}
	out = append(out, asURIComponent.Replace(percent), asURI.Replace(asURIComponent.Replace(percent)), asSearchParams.Replace(query))
	inJSON := append(htmlForms(v), v)
	out = append(out, inJSON...)
	for range 3 {
		inJSON = allJSONForms(inJSON)
		out = append(out, inJSON...)
	}
	return out
}

// allJSONForms returns each form once that an encoder gives one of the texts.
func allJSONForms(texts []string) (out []string) {
	for _, text := range texts {
		out = append(out, jsonForms(text)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// htmlForms returns v as common libraries escape it for HTML. They all escape < and >, but differ
// in quotation marks, which need no escape between tags.
func htmlForms(v string) []string {
	if !strings.ContainsAny(v, "&<>\"'") {
		return nil
	}
	var out []string
	text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(v)
	for _, double := range []string{`"`, "&quot;", "&#34;", "&#x22;"} {
		for _, single := range []string{"'", "&#39;", "&#039;", "&#x27;", "&apos;"} {
			out = append(out, strings.NewReplacer(`"`, double, "'", single).Replace(text))
		}
	}
	more := strings.NewReplacer("/", "&#x2F;", "`", "&#x60;", "=", "&#x3D;", `"`, "&quot;", "'", "&#39;") // mustache
	return append(out, more.Replace(text))
}

// jsonForms returns v as JSON encoders write it, without the quotation marks.
func jsonForms(v string) (out []string) {
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(v) == nil {
			text := strings.TrimSuffix(b.String(), "\n")
			text = text[1 : len(text)-1]
			out = append(out, text, jsonASCII(text, `\u%04x`), jsonASCII(text, `\u%04X`))
		}
	}
	return out
}

// JavaScript leaves other characters unescaped than Go: encodeURIComponent, encodeURI and
// URLSearchParams.
var (
	asURIComponent = strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
	asURI          = strings.NewReplacer("%3B", ";", "%2C", ",", "%2F", "/", "%3F", "?", "%3A", ":", "%40", "@", "%26", "&", "%3D", "=", "%2B", "+", "%24", "$", "%23", "#")
	asSearchParams = strings.NewReplacer("%2A", "*", "~", "%7E")
)

// jsonASCII returns JSON text with all characters beyond printable ASCII written as \uXXXX, as
// Python's json.dumps does. unit is the format of one UTF-16 unit.
func jsonASCII(text, unit string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x7f {
			b.WriteRune(r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, unit, u)
		}
	}
	return b.String()
}

// quoted returns v as Go and shells quote it, without the quotation marks around it.
func quoted(v string) []string {
	inGo := strconv.Quote(v)
	return []string{
		inGo[1 : len(inGo)-1],
		strings.ReplaceAll(v, `'`, `'\''`),  // set -x, {X} in a script
		strings.ReplaceAll(v, `'`, `'"'"'`), // Python's shlex.quote, dash's export -p
		backslashed(v, quoteSpecials),       // bash's declare -p and export -p
		bareWord(v),
		ansiQuoted(v),
	}
}

// wordSpecials are the characters that bash escapes in a word without quotes, quoteSpecials those
// that it escapes in double quotes.
const (
	quoteSpecials = "$`\"\\"
	wordSpecials  = quoteSpecials + " \t\n!&'()*,;<>?[]^{|}"
)

// backslashed returns v with a backslash before each of the characters in signs.
func backslashed(v, signs string) string {
	var b strings.Builder
	for i := range len(v) {
		if strings.IndexByte(signs, v[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

// bareWord returns v as printf %q of bash writes it. bash also escapes a tilde where it would mean
// a home directory. It escapes a tilde or # at the start of a word, too; there the text without the
// backslash still matches.
func bareWord(v string) string {
	return strings.NewReplacer("=~", `=\~`, ":~", `:\~`).Replace(backslashed(v, wordSpecials))
}

// ansiQuoted returns v as it is inside $'...', the quoting that bash uses for words with control
// characters.
func ansiQuoted(v string) string {
	const named, names = "\a\b\x1b\f\n\r\t\v\\'", `abEfnrtv\'`
	var b strings.Builder
	for i := range len(v) {
		c := v[i]
		switch at := strings.IndexByte(named, c); {
		case at >= 0:
			b.WriteString(`\` + names[at:at+1])
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
