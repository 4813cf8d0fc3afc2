// Command site writes the documentation as a static site into a folder: go run ./internal/docsite/site FOLDER. The
// definition docs/site.yaml runs it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/docsite"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write writes the pages and their files into a folder.
func write(folder string) error {
	site := docsite.Site{Suffix: ".html", Search: true}
	script, err := site.SearchScript()
	if err != nil {
		return err
	}
	topics, err := docsite.Topics()
	if err != nil {
		return err
	}
	index, err := site.Page(docsite.Index)
	if err != nil {
		return err
	}
	files := map[string][]byte{"style.css": docsite.Style(), "search.js": script, "index.html": index}
	for _, topic := range topics {
		if files[topic+".html"], err = site.Page(topic); err != nil {
			return err
		}
	}
	for name, b := range files {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d pages in %s; open index.html\n", len(topics), folder)
	return nil
}
