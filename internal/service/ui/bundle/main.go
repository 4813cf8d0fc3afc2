// Command bundle builds the web pages: it bundles internal/service/ui/src, with the libraries in
// internal/service/ui/npm, into internal/service/ui/dist. Run it with go generate ./internal/service/ui after a change.
//
// The result is committed, so that a build of flowrun needs neither this command nor Node.js.
// Its file names are stable: names with a hash would conflict in every merge. Package ui adds the hash to addresses.
//
// app.js and chunk.js are the pages that most visits show, more.js the others (src/more.tsx), hub.js what all tabs
// share (src/hub.ts).
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// write builds the pages of the folder internal/service/ui.
func write(dir string) error {
	files, err := build(dir)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, "dist", name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// modules are the libraries by the names that import them.
var modules = map[string]string{
	"preact":               "npm/preact/preact.mjs",
	"preact/hooks":         "npm/preact/hooks/hooks.mjs",
	"preact/jsx-runtime":   "npm/preact/jsx-runtime/jsx-runtime.mjs",
	"@preact/signals":      "npm/@preact/signals/signals.mjs",
	"@preact/signals-core": "npm/@preact/signals-core/signals-core.mjs",
}

// build returns the built files of the folder dir by name.
func build(dir string) (map[string][]byte, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	alias := map[string]string{}
	for name, file := range modules {
		alias[name] = filepath.Join(dir, filepath.FromSlash(file))
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:     dir,
		EntryPoints:       []string{"src/app.tsx", "src/hub.ts"},
		Outdir:            filepath.Join(dir, "dist"),
		ChunkNames:        "[name]",
		Splitting:         true,
		Bundle:            true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		Alias:             alias,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Charset:           api.CharsetUTF8,
		LegalComments:     api.LegalCommentsNone,
		TsconfigRaw:       "{}",
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	files := map[string][]byte{}
	for _, f := range result.OutputFiles {
		files[filepath.Base(f.Path)] = f.Contents
	}
	delete(files, "more.css") // app.css has the styles of all files
	return files, nil
}
