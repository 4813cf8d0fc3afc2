package builtin

import (
	"context"
	"errors"
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of read_many_files.
const (
	maxMany     = 500     // files in an answer
	maxManyText = 2 << 20 // bytes of text in an answer
)

// defaultExcludes lists what read_many_files leaves out by default: installed and generated files, and passwords.
var defaultExcludes = []string{"node_modules", ".venv", "__pycache__", "vendor", "dist", "build", "coverage",
	".idea", ".vscode", "*.pyc", "*.min.js", "*.map", "*.lock", "package-lock.json", ".DS_Store", ".env"}

func (f *files) readManyFiles() gostep.GoTool {
	return gostep.GoTool{
		Name: "read_many_files", DisplayName: "ReadManyFiles", Tags: []string{"read"}, Reads: true,
		Description: "Reads several files, given as paths and glob patterns, and returns their texts one after the other, each below a line with its path. Each file is read as by read_file without offset and limit. Images, audio, video and PDFs are included only if a pattern names them or their extension; other binary files are skipped.",
		Schema: parsed(`{
			"type": "object",
			"properties": {
				"paths": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"type": "string", "minLength": 1}, "description": "Files, folders and glob patterns, absolute or relative to the workspace. A folder means the files in it.", "examples": [["README.md", "src/**/*.go"]]},
				"include": {"type": "array", "maxItems": 1000, "items": {"type": "string", "minLength": 1}, "description": "More files, folders and patterns, read in the same way as paths.", "examples": [["docs/*.md"]]},
				"exclude": {"type": "array", "maxItems": 100, "items": {"type": "string", "minLength": 1, "maxLength": 1000}, "description": "Glob patterns of files and folders to exclude: *.log is matched against names, docs/*.md against paths relative to the workspace.", "examples": [["*.log"]]},
				"recursive": {"type": "boolean", "default": true, "description": "Include the files in subfolders."},
				"useDefaultExcludes": {"type": "boolean", "default": true, "description": "Exclude installed and generated files, such as node_modules, vendor, dist, build and lock files, and .env. A file named in paths is always read."},
				"file_filtering_options": ` + filteringSchema + `
			},
			"required": ["paths"],
			"additionalProperties": false
		}`),
		Describe: func(p map[string]any) string {
			all := values(p).many()
			text := "Reads " + strings.Join(all[:min(len(all), 5)], ", ")
			if more := len(all) - 5; more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
			return text
		},
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			m := &manyFiles{ctx: ctx, rs: f.roots(in), values: in.Params, seen: map[string]bool{}}
			return m.read()
		},
	}
}

func (v values) many() []string { return append(v.texts("paths"), v.texts("include")...) }

// manyFiles is one call of read_many_files.
type manyFiles struct {
	ctx      context.Context
	rs       *roots
	values   values
	excludes []globPattern

	seen      map[string]bool // files already visited
	parts     []gostep.Part
	text      strings.Builder // text after the last of parts
	length    int             // of all text
	media     int             // bytes in parts
	count     int             // files that were read
	skipped   []string        // files that were not read, with the reason
	overLimit int             // files left out because a limit was reached
	gaps      []string
}

func (m *manyFiles) read() (*gostep.Content, error) {
	excludes := m.values.texts("exclude")
	if m.values.flag("useDefaultExcludes") {
		excludes = append(excludes, defaultExcludes...)
	}
	for _, text := range excludes {
		g, err := pattern(strings.TrimSuffix(text, "/"), true)
		if err != nil {
			return nil, err
		}
		m.excludes = append(m.excludes, g)
	}
	for _, text := range m.values.many() {
		if err := m.one(text); err != nil {
			return nil, err
		}
	}
	return m.answer(), nil
}

// one reads the files that one path or pattern names.
func (m *manyFiles) one(text string) error {
	if strings.ContainsAny(text, "*?[{") {
		p, rest, err := m.rs.begin("", text)
		if err != nil {
			return err
		}
		g, err := pattern(rest, false)
		if err != nil {
			return err
		}
		return m.below(p, g, text)
	}
	p, err := m.rs.searched(text)
	if err != nil {
		return err
	}
	if dir, err := p.dir(); err == nil {
		dir.Close()
		return m.below(p, globPattern{pattern: "**", depth: maxFolder}, text)
	}
	if m.seen[p.path] {
		return nil
	}
	m.seen[p.path] = true
	parent, err := p.parent(false)
	if err != nil {
		return err
	}
	defer parent.Close()
	if _, err := parent.Lstat(p.name()); err != nil { // a file that is named must exist
		return describeError(p.path, err)
	}
	return m.file(parent, p.name(), p.path, true)
}

// below reads the files in a folder that match.
func (m *manyFiles) below(p place, g globPattern, text string) error {
	if !m.values.flag("recursive") {
		g.depth = 0
	}
	w := &walk{ctx: m.ctx, gitIgnore: m.values.gitIgnore(), depth: g.depth,
		prune: func(rest string, _ bool) bool { return m.excluded(p, rest) },
		visit: func(e entry) error {
			if e.typ != 0 || !g.fits(e.rest) || m.seen[e.path] {
				return nil
			}
			m.seen[e.path] = true
			return m.file(e.dir, e.name, e.path, names(text, e.name))
		}}
	err := w.from(p)
	m.gaps = append(m.gaps, w.gaps...)
	if errors.Is(err, fs.ErrNotExist) { // the pattern matches nothing
		return nil
	}
	return err
}

// excluded reports whether a file or folder is excluded, by its path from the workspace.
func (m *manyFiles) excluded(p place, rest string) bool {
	from := m.rs.workspace
	if real, err := filepath.EvalSymlinks(from); err == nil {
		from = real
	}
	if up, ok := relativeTo(from, p.path); ok {
		rest = path.Join(filepath.ToSlash(up), rest)
	}
	return slices.ContainsFunc(m.excludes, func(g globPattern) bool { return g.fits(rest) })
}

// names reports whether a pattern names a file or its extension explicitly, rather than by a wildcard.
func names(pattern, file string) bool {
	last, ext := path.Base(filepath.ToSlash(pattern)), path.Ext(file)
	return last == file || ext != "" && strings.HasSuffix(last, ext)
}

// file reads one file. A file that cannot be read is noted.
func (m *manyFiles) file(dir *os.Root, name, path string, named bool) error {
	switch {
	case m.ctx.Err() != nil:
		return m.ctx.Err()
	case m.count >= maxMany || m.length >= maxManyText:
		m.overLimit++
		return nil
	}
	if err := m.put(dir, name, path, named); err != nil {
		if m.ctx.Err() != nil {
			return m.ctx.Err()
		}
		if len(m.skipped) < maxMany {
			m.skipped = append(m.skipped, err.Error())
		}
	}
	return nil
}

func (m *manyFiles) put(dir *os.Root, name, path string, named bool) error {
	f, info, err := openRegular(dir, name, path)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := read(m.ctx, f)
	if err != nil {
		return describeError(path, err)
	}
	if s.text {
		e, err := take(s.r, 0, defaultLines, maxManyText-m.length)
		if err != nil {
			return describeError(path, err)
		}
		m.write(fmt.Sprintf("--- %s ---\n%s", path, e.note()+e.text))
		if e.text != "" && !strings.HasSuffix(e.text, "\n") {
			m.write("\n")
		}
		m.count++
		return nil
	}
	switch {
	case shown(s.mime) && !named:
		return fmt.Errorf("%s is %s, which is read only if a pattern names the file or its extension", quoted(path), s.mime)
	case shown(s.mime) && m.media+int(min(info.Size(), maxMedia)) > maxMedia:
		return fmt.Errorf("%s (%s, %s) does not fit; the total limit for such files is %s", quoted(path), s.mime, size(info.Size()), size(maxMedia))
	}
	part, err := media(s, path, info.Size())
	if err != nil {
		return err
	}
	m.write(fmt.Sprintf("--- %s ---\n", path))
	m.parts = append(m.parts, gostep.Part{Text: m.text.String()}, part)
	m.text.Reset()
	m.media += len(part.Data)
	m.count++
	return nil
}

func (m *manyFiles) write(text string) {
	m.text.WriteString(text)
	m.length += len(text)
}

// answer builds the answer.
func (m *manyFiles) answer() *gostep.Content {
	short := "Read " + plural.Of(m.count, "file")
	if m.count == 0 {
		short = "No files were read for " + strings.Join(m.values.many(), ", ")
		m.write(short + ".\n")
	} else {
		m.write("--- End of content ---\n")
	}
	if m.overLimit > 0 {
		m.write(fmt.Sprintf("[%s skipped: an answer holds at most %d files and %s; use narrower patterns]\n", were(m.overLimit, "more file"), maxMany, size(maxManyText)))
	}
	if n := len(m.skipped); n > 0 {
		m.write(fmt.Sprintf("[Not read: %s", strings.Join(m.skipped[:min(n, 20)], "; ")))
		if n > 20 {
			m.write(fmt.Sprintf("; and %d more", n-20))
		}
		m.write("]\n")
	}
	if len(m.gaps) > 0 {
		m.write("[Not searched: " + strings.Join(m.gaps[:min(len(m.gaps), 10)], "; ") + "]\n")
	}
	return &gostep.Content{Parts: append(m.parts, gostep.Part{Text: m.text.String()}), Display: short}
}
