package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// MarkMissing marks an error about a definition that the caller named with word, and adds what the
// caller probably meant.
func MarkMissing(err error, word string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing(fmt.Errorf("%w; %s", err, meantFile(word, ", or the name of a tool, without an extension")))
	case errors.Is(err, syscall.EISDIR):
		return Usage(fmt.Errorf("%w; give a file in it, or the name of a tool", err), nil)
	}
	if missing, ok := err.(*library.NotFoundError); ok && missing.Note == "" {
		explained := *missing
		if files := filesOfStem(".", word); len(files) > 0 {
			explained.Note = fmt.Sprintf("to use the file %s, write ./%[1]s", files[0])
		} else if missing.Scope == "" && len(missing.Searched) > 0 && !slices.ContainsFunc(missing.Searched, func(folder string) bool { return len(definitionsIn(folder)) > 0 }) {
			explained.Note = "you have no tools yet; to create examples: flowrun init"
		}
		return &explained
	}
	return err
}

// MarkMissingPath is MarkMissing for a command that takes only the path of a definition.
func MarkMissingPath(err error, path string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return Missing(fmt.Errorf("%w; %s", err, meantFile(path, "")))
	}
	return MarkMissing(err, path)
}

// MarkMissingFile marks an error about a file or folder that the caller named.
func MarkMissingFile(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return Missing(err)
	}
	return err
}

// meantFile returns a hint for a path at which there is no definition. otherwise is what the caller
// can give instead of a path.
func meantFile(path, otherwise string) string {
	folder, base := filepath.Split(path)
	if st, err := os.Stat(filepath.Clean(folder)); folder != "" && (err != nil || !st.IsDir()) {
		return fmt.Sprintf("there is no folder %s", filepath.Clean(folder))
	}
	stem := strings.TrimSuffix(base, tool.Extension(base))
	var stems []string
	for _, file := range definitionsIn(folder) {
		stems = append(stems, strings.TrimSuffix(file, tool.Extension(file)))
	}
	for _, near := range append([]string{stem}, diagnostic.Near(stem, stems)...) {
		if files := filesOfStem(folder, near); len(files) > 0 {
			return fmt.Sprintf("did you mean %q?", folder+files[0])
		}
	}
	return "give the path of a definition (.yaml, .yml, .json, .md, .tool.js or .tool.ts)" + otherwise
}

// filesOfStem returns the definition files in a folder whose names are stem and an extension.
func filesOfStem(folder, stem string) (files []string) {
	for _, file := range definitionsIn(folder) {
		if strings.TrimSuffix(file, tool.Extension(file)) == stem {
			files = append(files, file)
		}
	}
	return files
}

// definitionsIn returns the names of the files in a folder that may be definitions.
func definitionsIn(folder string) (files []string) {
	entries, _ := os.ReadDir(filepath.Clean(folder))
	for _, e := range entries {
		if !e.IsDir() && tool.Extension(e.Name()) != "" {
			files = append(files, e.Name())
		}
	}
	return files
}
