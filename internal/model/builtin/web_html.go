package builtin

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

const (
	maxMarkdown = 1_000_000 // bytes of Markdown made from a page
	maxNested   = 8         // lists and quotes nested deeper are shown at this level
)

// markdownOf converts a page to Markdown in one pass over its tags, without building a tree: even for deeply nested
// or broken pages, the work grows only linearly. base is the address of the page, to which its links are relative.
func markdownOf(page, base string) (title, text string) {
	m := markdown{}
	m.base, _ = url.Parse(base)
	z := html.NewTokenizer(strings.NewReader(page))
	for len(m.out) < maxMarkdown {
		kind := z.Next()
		if kind == html.ErrorToken { // the end; reading from a string has no other errors
			break
		}
		t := z.Token()
		switch kind {
		case html.TextToken:
			m.text(t.Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			m.start(t)
		case html.EndTagToken:
			m.end(t.Data)
		}
	}
	m.endCode()
	return oneLine(m.title.String()), strings.TrimSpace(strings.Map(readableRune, string(m.out)))
}

// markdown holds the Markdown made from a page so far.
type markdown struct {
	base *url.URL
	out  []byte

	skipped   string // name of the element that is being skipped; "" for none
	skipDepth int    // how many elements of that name are open
	titled    bool   // inside the title
	title     strings.Builder

	breaks int        // line breaks to write before the next text
	quotes int        // open quotes
	lists  []listMark // open lists
	cells  int        // cells of the current row so far
	code   int        // start of the current code block in out plus 1; 0 for none
	links  []link     // open links
}

// listMark counts the items of a list; -1 is a list without numbers.
type listMark struct{ next int }

type link struct {
	at int // where its text begins
	to string
}

// skippedElements lists elements without readable text.
var skippedElements = []string{"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "select", "textarea", "button", "audio", "video"}

// unclosedElements lists elements whose end tag may be missing. A hidden one is not skipped, because its end might
// never come.
var unclosedElements = []string{"html", "head", "body", "p", "li", "td", "th", "tr", "dt", "dd", "option", "br", "img", "hr", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}

func (m *markdown) start(t html.Token) {
	name := t.Data
	switch {
	case m.skipDepth > 0:
		if name == m.skipped && t.Type == html.StartTagToken {
			m.skipDepth++
		}
		return
	case t.Type == html.StartTagToken && (slices.Contains(skippedElements, name) || hidden(t) && !slices.Contains(unclosedElements, name)):
		m.skipped, m.skipDepth = name, 1
		return
	}
	switch name {
	case "title":
		m.titled = m.title.Len() == 0
	case "h1", "h2", "h3", "h4", "h5", "h6":
		m.block(2)
		m.write(strings.Repeat("#", int(name[1]-'0')) + " ")
	case "p", "section", "article", "header", "footer", "main", "nav", "aside", "figure", "table", "dl":
		m.block(2)
	case "div", "form", "fieldset", "address", "details", "summary", "dt", "dd", "figcaption":
		m.block(1)
	case "tr":
		m.block(1)
		m.cells = 0
	case "td", "th":
		if m.cells++; m.cells > 1 {
			m.write(" | ")
		}
	case "br":
		m.block(1)
	case "hr":
		m.block(2)
		m.write("---")
		m.block(2)
	case "blockquote":
		m.block(2)
		m.quotes++
	case "ul", "ol":
		m.block(min(2, 2-min(1, len(m.lists))))
		mark := listMark{-1}
		if name == "ol" {
			mark.next = 1
		}
		m.lists = append(m.lists, mark)
	case "li":
		m.item()
	case "pre":
		m.startCode()
	case "code":
		if m.code == 0 {
			m.write("`")
		}
	case "a":
		m.links = append(m.links, link{len(m.out), m.target(attribute(t, "href"))})
	case "img":
		if alt := oneLine(attribute(t, "alt")); alt != "" {
			m.text("[picture: " + alt + "]")
		}
	}
}

func (m *markdown) end(name string) {
	if m.skipDepth > 0 {
		if name == m.skipped {
			m.skipDepth--
		}
		return
	}
	switch name {
	case "title":
		m.titled = false
	case "h1", "h2", "h3", "h4", "h5", "h6", "p", "section", "article", "header", "footer", "main", "nav", "aside", "figure", "table", "dl":
		m.block(2)
	case "div", "form", "fieldset", "address", "details", "summary", "dt", "dd", "li", "tr", "figcaption":
		m.block(1)
	case "blockquote":
		m.block(2)
		m.quotes = max(0, m.quotes-1)
	case "ul", "ol":
		m.lists = m.lists[:max(0, len(m.lists)-1)]
		m.block(min(2, 2-min(1, len(m.lists))))
	case "pre":
		m.endCode()
	case "code":
		if m.code == 0 {
			m.write("`")
		}
	case "a":
		m.endLink()
	}
}

// text adds the text between tags. Outside of code, white space becomes single spaces.
func (m *markdown) text(s string) {
	switch {
	case m.skipDepth > 0:
	case m.titled:
		if m.title.Len() < 1000 {
			m.title.WriteString(s)
		}
	case m.code > 0:
		m.out = append(m.out, s...)
	default:
		m.words(s)
	}
}

func (m *markdown) words(s string) {
	words := strings.Fields(s)
	if len(words) == 0 {
		if s != "" {
			m.blank()
		}
		return
	}
	if strings.TrimLeft(s, " \t\r\n\f") != s {
		m.blank()
	}
	m.write(strings.Join(words, " "))
	if strings.TrimRight(s, " \t\r\n\f") != s {
		m.blank()
	}
}

// blank adds a space after a word.
func (m *markdown) blank() {
	if n := len(m.out); m.breaks == 0 && n > 0 && m.out[n-1] != ' ' && m.out[n-1] != '\n' {
		m.out = append(m.out, ' ')
	}
}

// block requests at least that many line breaks before the next text.
func (m *markdown) block(breaks int) { m.breaks = max(m.breaks, breaks) }

// write writes a text, after the requested line breaks.
func (m *markdown) write(s string) {
	if m.breaks > 0 {
		m.out = bytes.TrimRight(m.out, " ")
		if len(m.out) > 0 {
			prefix := strings.Repeat("> ", min(m.quotes, maxNested))
			for i := range m.breaks {
				m.out = append(m.out, '\n')
				if i < m.breaks-1 {
					m.out = append(m.out, strings.TrimRight(prefix, " ")...)
				}
			}
		}
		m.out = append(m.out, strings.Repeat("> ", min(m.quotes, maxNested))...)
		m.breaks = 0
	}
	m.out = append(m.out, s...)
}

func (m *markdown) item() {
	m.block(1)
	if len(m.lists) == 0 {
		m.write("- ")
		return
	}
	mark := &m.lists[len(m.lists)-1]
	indent := strings.Repeat("  ", min(len(m.lists)-1, maxNested))
	if mark.next < 0 {
		m.write(indent + "- ")
		return
	}
	m.write(fmt.Sprintf("%s%d. ", indent, mark.next))
	mark.next++
}

func (m *markdown) startCode() {
	m.endCode()
	m.block(2)
	m.write("")
	m.code = len(m.out) + 1
}

// endCode puts a block of code between fences that are longer than any inside it.
func (m *markdown) endCode() {
	if m.code == 0 {
		return
	}
	text := strings.Trim(string(m.out[m.code-1:]), "\r\n")
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.out = append(m.out[:m.code-1], fence+"\n"+text+"\n"+fence...)
	m.code = 0
	m.block(2)
}

// endLink adds the address of a link after its text.
func (m *markdown) endLink() {
	if len(m.links) == 0 {
		return
	}
	l := m.links[len(m.links)-1]
	m.links = m.links[:len(m.links)-1]
	if l.to == "" || m.code > 0 || l.at > len(m.out) || len(bytes.TrimSpace(m.out[l.at:])) == 0 {
		return
	}
	m.out = append(bytes.TrimRight(m.out, " "), " ("+l.to+")"...)
}

// target returns the absolute address of a link; "" if it does not lead to another page.
func (m *markdown) target(href string) string {
	u, err := url.Parse(strings.TrimSpace(href))
	if err != nil || href == "" || strings.HasPrefix(href, "#") || len(href) > 2000 {
		return ""
	}
	if m.base != nil {
		u = m.base.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
		return ""
	}
	return u.String()
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// hidden reports whether an element is invisible to a reader of the page.
func hidden(t html.Token) bool {
	for _, a := range t.Attr {
		style := a.Key == "style" && strings.Contains(strings.ReplaceAll(strings.ToLower(a.Val), " ", ""), "display:none")
		if a.Key == "hidden" || style {
			return true
		}
	}
	return false
}
