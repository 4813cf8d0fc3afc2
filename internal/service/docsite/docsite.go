// Package docsite renders the pages of docs as HTML, of which package site makes a static site. flowrun itself does
// not import it: the Markdown library would make half a megabyte before each command. A page is one document without scripts; its style is a file beside the index, so that a content
// security policy can forbid everything inline. Links between pages keep their relative paths, and links to other files
// of the repository lead to its web page. The package knows nothing of HTTP.
package docsite

import (
	"bytes"
	_ "embed"
	"errors"
	"html/template"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"github.com/flowrun/flowrun/docs"
)

// Index is the topic of the page that lists all pages.
const Index = "README"

var (
	//go:embed style.css
	style []byte
	//go:embed page.html
	pageHTML string
)

// repository is where files are that are not pages.
const repository = "https://github.com/flowrun/flowrun/blob/main/"

// ErrNoPage is the error for a topic without a page.
var ErrNoPage = errors.New("there is no such page")

// Site says how pages are linked.
type Site struct {
	Suffix string // of the address of a page, such as .html
	Search bool   // pages have a search field, with the script search.js beside the index
}

// Style returns the stylesheet of all pages, style.css beside the index.
func Style() []byte { return style }

// Topics returns the topics of all pages, sorted.
func Topics() (topics []string, err error) {
	err = fs.WalkDir(docs.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if topic, ok := strings.CutSuffix(name, ".md"); ok && err == nil && !d.IsDir() {
			topics = append(topics, topic)
		}
		return err
	})
	return topics, err
}

// Page returns the page of a topic, such as guides/use-secrets. The error is ErrNoPage if there is none.
func (s Site) Page(topic string) ([]byte, error) {
	source, err := fs.ReadFile(docs.Files(), topic+".md")
	if err != nil {
		return nil, ErrNoPage
	}
	// The pages are part of the program, and their HTML is only anchors.
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	root := md.Parser().Parse(text.NewReader(source))
	title, err := s.prepare(root, source, topic)
	if err != nil {
		return nil, err
	}
	var body, page bytes.Buffer
	if err := md.Renderer().Render(&body, source, root); err != nil {
		return nil, err
	}
	layout, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, err
	}
	err = layout.Execute(&page, map[string]any{
		"Title": title, "Body": template.HTML(body.String()), "Search": s.Search,
		"Root": strings.Repeat("../", strings.Count(topic, "/")), "Index": Index + s.Suffix,
	})
	return page.Bytes(), err
}

// prepare gives the headings their ids and the links their targets. It returns the first heading.
func (s Site) prepare(root ast.Node, source []byte, topic string) (title string, err error) {
	used := map[string]int{}
	var images []*ast.Image
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			words := plainText(n, source)
			if title == "" {
				title = words
			}
			n.SetAttributeString("id", []byte(unique(headingID(words), used)))
		case *ast.Link:
			n.Destination = []byte(s.target(topic, string(n.Destination)))
		case *ast.Image:
			images = append(images, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range images {
		linkImage(n, topic)
	}
	return title, err
}

// linkImage replaces an image by a link to it: images are not part of the program, and pages load nothing from elsewhere.
func linkImage(n *ast.Image, topic string) {
	link := ast.NewLink()
	link.Destination = []byte(repositoryFile(topic, string(n.Destination)))
	for c := n.FirstChild(); c != nil; c = n.FirstChild() {
		link.AppendChild(link, c)
	}
	n.Parent().ReplaceChild(n.Parent(), n, link)
}

// target returns where a link of a page leads.
func (s Site) target(topic, link string) string {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Path == "" {
		return link
	}
	name := path.Join(path.Dir(topic), u.Path)
	if _, err := fs.Stat(docs.Files(), name); err != nil || path.Ext(name) != ".md" {
		return repositoryFile(topic, link)
	}
	u.Path = strings.TrimSuffix(u.Path, ".md") + s.Suffix
	return u.String()
}

// repositoryFile returns the address of a file that is not a page.
func repositoryFile(topic, link string) string {
	return repository + path.Join("docs", path.Dir(topic), link)
}

// headingID is the id that GitHub gives a heading, which the links of the pages use.
func headingID(words string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, words)
}

// unique numbers ids that occur more than once on a page.
func unique(id string, used map[string]int) string {
	n := used[id]
	used[id]++
	if n > 0 {
		return id + "-" + strconv.Itoa(n)
	}
	return id
}

func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else {
			b.WriteString(plainText(c, source))
		}
	}
	return b.String()
}
