// Package scaffold holds what a newcomer meets first: the definitions that flowrun init
// writes into a project, and the one that flowrun demo runs.
//
// A template is a folder of definitions beside this file. Write puts them into
// .flowrun/tools of a project, and the schema that their first lines point editors at
// beside them. What is there already stays as it is, so writing again does no harm.
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

	"github.com/flowrun/flowrun/internal/atomicfile"
)

//go:embed start etl release js
var templates embed.FS

//go:embed demo.yaml
var demo []byte

// Demo is the definition that flowrun demo runs. Its parameter BREAK lets a step fail.
func Demo() []byte { return demo }

// Template is a set of definitions to begin with.
type Template struct {
	Name, About string
	First       string // a command line to try first
}

// Templates are those that Write knows; the first is the one for people who ask for none.
func Templates() []Template {
	return []Template{
		{"start", "a small tool and a job of several steps", "flowrun run hello NAME=Ada"},
		{"etl", "extract, check, transform in a loop, load", "flowrun run orders"},
		{"js", "a tool in JavaScript, and one in Markdown that uses it", "flowrun run headline text='to be or not to be'"},
		{"release", "test, build for every platform, archives and checksums", "flowrun run release VERSION=v0.1.0"},
	}
}

// SchemaFile is where the schema goes, from the project's folder.
const SchemaFile = ".flowrun/schema/tool.json"

const toolsDir = ".flowrun/tools"

// Outcome says what became of a file.
type Outcome string

// What can become of a file.
const (
	Wrote   Outcome = "wrote"
	Same    Outcome = "unchanged"  // it is there already, just so
	Differs Outcome = "left alone" // it is there, and is another
)

// File is a file that Write was to write.
type File struct {
	Path    string // from the project's folder, with slashes
	Outcome Outcome
}

// Write puts a template and the schema into the project in dir, which is made where it
// is missing. A file that exists is not touched. Files are written whole or not at all;
// after an error the ones before it are there, and are among the answer.
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
	for _, n := range names {
		text, err := fs.ReadFile(templates, path.Join(template, n.Name()))
		if err == nil {
			err = put(path.Join(toolsDir, n.Name()), text)
		}
		if err != nil {
			return done, err
		}
	}
	return done, put(SchemaFile, schema)
}

// write makes a file that is not there yet.
func write(file string, text []byte) (Outcome, error) {
	switch old, err := os.ReadFile(file); {
	case err == nil && bytes.Equal(old, text):
		return Same, nil
	case err == nil:
		return Differs, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	var exists *atomicfile.ExistsError // also a link that leads nowhere: it is somebody's too
	if err := atomicfile.Create(file, text); errors.As(err, &exists) {
		return Differs, nil
	} else if err != nil {
		return "", err
	}
	return Wrote, nil
}
