// Package scaffold contains the definitions for new users: those that flowrun init writes
// into a project, and the one that flowrun demo runs.
//
// A template is a folder of definitions beside this file. Write copies them to
// .flowrun/tools of a project, together with what editors need: the schema that their first
// lines name, and the TypeScript declarations for tools in JavaScript. Existing files are never changed, so Write can safely be repeated.
package scaffold

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

//go:embed start etl release js types
var templates embed.FS

//go:embed demo.yaml
var demo []byte

// Demo returns the definition that flowrun demo runs. Its parameter BREAK makes a step
// fail.
func Demo() []byte { return demo }

// Template is a set of definitions to start with.
type Template struct {
	Name, About string
	First       string // a command to try first
}

// Templates returns the templates that Write knows; the first is the default.
func Templates() []Template {
	return []Template{
		{"start", "a small tool and a job of several steps", "flowrun run hello NAME=Ada"},
		{"etl", "extract, check, transform in a loop, load", "flowrun run orders"},
		{"js", "a tool in JavaScript, and one in Markdown that uses it", "flowrun run headline text='to be or not to be'"},
		{"release", "test, build for every platform, archives and checksums", "flowrun run release VERSION=v0.1.0"},
	}
}

// SchemaFile is the path of the schema, relative to the project's folder.
const SchemaFile = ".flowrun/schema/tool.json"

const toolsDir = ".flowrun/tools"

// Outcome is what Write did with a file.
type Outcome string

// The values of Outcome.
const (
	Wrote   Outcome = "wrote"
	Same    Outcome = "unchanged"  // the file exists with the same content
	Differs Outcome = "left alone" // the file exists with other content
)

// File is one file of the template.
type File struct {
	Path    string // relative to the project's folder, with slashes
	Outcome Outcome
}

// Write writes a template and the schema into the project in dir, which it creates if
// necessary. An existing file is not changed. Each file is written completely or not at
// all. After an error, the returned list contains the files written before it.
func Write(dir, template string, schema []byte) ([]File, error) {
	names, err := fs.ReadDir(templates, template)
	if err != nil {
		return nil, fmt.Errorf("there is no template %q", template)
	}
	var done []File
	put := func(to string, text []byte) error {
		outcome, err := write(filepath.Join(dir, filepath.FromSlash(to)), text)
		if err == nil {
			done = append(done, File{to, outcome})
		}
		return err
	}
	copyTo := func(from, to string) error {
		text, err := fs.ReadFile(templates, from)
		if err == nil {
			err = put(to, text)
		}
		return err
	}
	for _, n := range names {
		if err := copyTo(path.Join(template, n.Name()), path.Join(toolsDir, n.Name())); err != nil {
			return done, err
		}
	}
	if slices.ContainsFunc(names, func(n fs.DirEntry) bool { return strings.HasSuffix(n.Name(), ".tool.js") }) {
		for _, file := range []string{"types/tool.d.ts", "types/modules.d.ts", "tsconfig.json"} { // by the last editors find the others
			if err := copyTo(path.Join("types", path.Base(file)), path.Join(".flowrun", file)); err != nil {
				return done, err
			}
		}
	}
	return done, put(SchemaFile, schema)
}

// write creates a file unless it exists.
func write(file string, text []byte) (Outcome, error) {
	switch old, err := os.ReadFile(file); {
	case err == nil && bytes.Equal(old, text):
		return Same, nil
	case err == nil:
		return Differs, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	var exists *atomicfile.ExistsError // also a link to nothing, because somebody created it
	if err := atomicfile.Create(file, text); errors.As(err, &exists) {
		return Differs, nil
	} else if err != nil {
		return "", err
	}
	return Wrote, nil
}
