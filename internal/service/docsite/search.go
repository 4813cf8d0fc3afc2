package docsite

import (
	_ "embed"
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/flowrun/flowrun/docs"
)

//go:embed search.js
var searchScript []byte

// section is a part of a page below a heading, as the search of the static site reads it.
type section struct {
	Path  string `json:"path"`
	Title string `json:"title"`
	Text  string `json:"text"` // lower case
}

// SearchScript returns search.js: the sections of all pages, and the script that searches them. It is one file because
// browsers do not let a page from a disk load another file as data.
func (s Site) SearchScript() ([]byte, error) {
	topics, err := Topics()
	if err != nil {
		return nil, err
	}
	var list []section
	for _, topic := range topics {
		if topic == "reference/requirements" { // ids and tests, for contributors
			continue
		}
		text, err := fs.ReadFile(docs.Files(), topic+".md")
		if err != nil {
			return nil, err
		}
		list = append(list, s.sections(topic, string(text))...)
	}
	data, err := json.Marshal(list)
	return append(append([]byte("const sections = "), append(data, ";\n"...)...), searchScript...), err
}

// sections cuts a page before each heading that is not in a code block.
func (s Site) sections(topic, text string) (list []section) {
	used, code, page := map[string]int{}, false, ""
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if heading := strings.TrimSpace(strings.TrimLeft(line, "#")); !code && heading != "" && strings.HasPrefix(line, "#") {
			heading = strings.ReplaceAll(heading, "`", "")
			next := section{Path: topic + s.Suffix, Title: heading}
			if page == "" {
				page = heading
				used[headingID(heading)]++
			} else {
				next.Path += "#" + unique(headingID(heading), used)
				next.Title = page + ": " + heading
			}
			list = append(list, next)
		}
		if len(list) > 0 {
			list[len(list)-1].Text += strings.ToLower(line)
		}
	}
	return list
}
