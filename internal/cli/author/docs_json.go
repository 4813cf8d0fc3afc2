package author

import (
	"path"
	"strings"
)

const docsSchema = "flowrun/docs.v1"

// docsJSON is the output of flowrun docs -o json.
type docsJSON struct {
	Schema   string            `json:"schema"`
	Pages    []docsPageJSON    `json:"pages"`
	Sections []docsSectionJSON `json:"sections,omitempty"` // with --search
}

type docsPageJSON struct {
	Topic string `json:"topic"`
	Title string `json:"title"`
	Kind  string `json:"kind"`           // tutorial, guide, reference, explanation or index
	Text  string `json:"text,omitempty"` // Markdown; not in the list
}

type docsSectionJSON struct {
	Topic   string `json:"topic"`
	Heading string `json:"heading"`
}

func (f docsFlags) document(all []docsPage, found docsFound) docsJSON {
	doc := docsJSON{Schema: docsSchema, Pages: []docsPageJSON{}}
	kinds := pageKinds(all)
	for _, p := range found.pages {
		page := docsPageJSON{Topic: p.topic, Title: p.title(), Kind: kinds[p.topic], Text: p.text}
		if found.list {
			page.Text = ""
		}
		doc.Pages = append(doc.Pages, page)
	}
	for _, s := range found.sections {
		doc.Sections = append(doc.Sections, docsSectionJSON{s.topic, s.heading})
	}
	return doc
}

// pageKinds returns the kind of each topic: that of the heading in the index below which its link is.
func pageKinds(pages []docsPage) map[string]string {
	kinds := map[string]string{docsIndex: "index"}
	index, err := findPage(pages, docsIndex)
	if err != nil {
		return kinds
	}
	kind := ""
	for line := range strings.Lines(index.text) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			kind = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(heading)), "s")
		}
		_, link, ok := strings.Cut(line, "](")
		if target, _, closed := strings.Cut(link, ")"); ok && closed && path.Ext(target) == ".md" && kind != "" {
			kinds[strings.TrimSuffix(target, ".md")] = kind
		}
	}
	return kinds
}
