package builtin

import (
	"context"
	"errors"
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"io/fs"
	"slices"
	"strings"
)

// maxListed limits the entries in an answer of list_directory.
const maxListed = 1000

func (f *files) listDirectory() gostep.GoTool {
	return gostep.GoTool{
		Name: "list_directory", DisplayName: "ListFiles", Tags: []string{"read"}, Reads: true,
		Description: "Lists the names of the files and subfolders directly in a folder. Subfolders come first, marked with [DIR]; symbolic links are marked with [LINK]. To find files in subfolders, use glob.",
		Schema: parsed(`{
			"type": "object",
			"properties": {
				"path": {"type": "string", "minLength": 1, "description": "The folder to list, as an absolute path. Relative paths are refused.", "examples": ["/home/user/project"]},
				"ignore": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Glob patterns of names to exclude, such as *.log.", "examples": [["*.log"]]},
				"file_filtering_options": ` + filteringSchema + `
			},
			"required": ["path"],
			"additionalProperties": false
		}`),
		Describe: func(p map[string]any) string { return "Lists the folder " + values(p).text("path") },
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			p, err := f.roots(in).find(values(in.Params).text("path"))
			if err != nil {
				return nil, err
			}
			return list(ctx, p, in.Params)
		},
	}
}

func list(ctx context.Context, p place, v values) (*gostep.Content, error) {
	var excludes []globPattern
	for _, text := range v.texts("ignore") {
		g, err := pattern(strings.TrimSuffix(text, "/"), true)
		if err != nil {
			return nil, err
		}
		excludes = append(excludes, g)
	}
	var folders, files []string
	w := &walk{ctx: ctx, gitIgnore: v.gitIgnore(),
		prune: func(rest string, _ bool) bool {
			return slices.ContainsFunc(excludes, func(g globPattern) bool { return g.fits(rest) })
		},
		visit: func(e entry) error {
			switch {
			case e.typ.IsDir():
				folders = append(folders, "[DIR] "+e.name)
			case e.typ&fs.ModeSymlink != 0:
				files = append(files, "[LINK] "+e.name)
			default:
				files = append(files, e.name)
			}
			return nil
		}}
	if err := w.from(p); err != nil {
		return nil, notFolder(p, err)
	}
	short := fmt.Sprintf("Listed %s in %s", plural.Of(len(folders)+len(files), "item"), p.path)
	if w.ignored > 0 {
		short += fmt.Sprintf(" (%d ignored by .gitignore)", w.ignored)
	}
	all := append(folders, files...)
	text := short + ":\n---\n" + strings.Join(all[:min(len(all), maxListed)], "\n")
	if len(all) == 0 {
		text = short + "."
	}
	if more := len(all) - maxListed; more > 0 {
		text += fmt.Sprintf("\n---\n[%d more not shown; use glob with a pattern]", more)
	}
	return textAnswer(text+w.notes(), short), nil
}

// isFolder returns an error if a place is not a folder.
func isFolder(p place) error {
	dir, err := p.dir()
	if err != nil {
		return notFolder(p, err)
	}
	return dir.Close()
}

// notFolder returns a better error than err if the place is a file instead of a folder.
func notFolder(p place, err error) error {
	file, _, opening := p.open()
	if opening == nil {
		file.Close()
		return fmt.Errorf("%s is a file, not a folder; to read it, use read_file", quoted(p.path))
	}
	var kind *refusal
	if errors.As(opening, &kind) && kind.cause == nil && !errors.Is(err, fs.ErrPermission) {
		return opening
	}
	return err
}
