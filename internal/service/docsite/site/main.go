// Command site writes the documentation as a static site into a folder, or into a zip file: go run
// ./internal/service/docsite/site FOLDER|FILE.zip. The definition docs/site.yaml runs it.
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/service/docsite"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER|FILE.zip")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// write writes the site into a folder, or into a zip file.
func write(target string) error {
	if strings.HasSuffix(target, ".zip") {
		files, err := packed()
		if err != nil {
			return err
		}
		return writeZip(target, files)
	}
	files, err := render()
	if err != nil {
		return err
	}
	for name, b := range files {
		file := filepath.Join(target, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, b, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("%d files in %s; open index.html\n", len(files), target)
	return nil
}

// render returns the pages and their files by path.
func render() (map[string][]byte, error) {
	site := docsite.Site{Suffix: ".html", Search: true}
	script, err := site.SearchScript()
	if err != nil {
		return nil, err
	}
	topics, err := docsite.Topics()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"style.css": docsite.Style(), "search.js": script}
	for _, topic := range topics {
		if files[topic+".html"], err = site.Page(topic); err != nil {
			return nil, err
		}
	}
	files["index.html"] = files[docsite.Index+".html"]
	return files, nil
}

// packed returns what package docpages contains: the site, the pages that it is made from, and files to which these link.
func packed() (map[string][]byte, error) {
	site, err := render()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, b := range site {
		files["site/"+name] = b
	}
	err = fs.WalkDir(docs.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files["markdown/"+name], err = fs.ReadFile(docs.Files(), name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return files, addLinked(files)
}

// addLinked adds the files beside the pages to which pages link. Their names are relative to the folder docs, or to that of
// the project.
func addLinked(files map[string][]byte) error {
	root, err := projectFolder()
	if err != nil {
		return err
	}
	project := os.DirFS(root)
	for _, pattern := range []string{"CONTRIBUTING.md", "SECURITY.md", "examples/*.*", "docs/*.yaml", "docs/*.json", "docs/dev/*.md", "docs/dev/decisions/*.md"} {
		names, err := fs.Glob(project, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if files["linked/"+strings.TrimPrefix(name, "docs/")], err = fs.ReadFile(project, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// projectFolder returns the folder with go.mod above the working directory.
func projectFolder() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir, nil
		}
		if filepath.Dir(dir) == dir {
			err = errors.New("there is no go.mod above the working directory")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// writeZip writes the files without times, so that the same pages give the same file.
func writeZip(target string, files map[string][]byte) error {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(target, b.Bytes(), 0o644)
}
