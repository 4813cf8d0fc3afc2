package bundle

import (
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// result converts the result of the build.
func (w *work) result(answer api.BuildResult) Result {
	var r Result
	for _, f := range answer.OutputFiles {
		if strings.HasSuffix(f.Path, ".map") {
			r.Map = absolute(f.Contents, filepath.Dir(w.request.File))
		} else {
			r.Code = f.Contents
		}
	}
	slices.Sort(w.packages)
	r.Packages = slices.Compact(w.packages)
	slices.SortFunc(w.missing, func(a, b Missing) int { return strings.Compare(a.Name, b.Name) })
	r.Missing, r.Looked = w.missing, w.looked()
	slices.SortFunc(w.absent, func(a, b Absent) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Module, b.Module))
	})
	r.Absent = slices.Compact(w.absent)
	w.manifests()
	for _, f := range w.seen {
		r.Files = append(r.Files, f)
	}
	slices.SortFunc(r.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return r
}

// manifests adds the package.json files that determined where the modules of a package are.
func (w *work) manifests() {
	looked := map[string]bool{}
	for _, path := range slices.Collect(maps.Keys(w.seen)) {
		for dir := filepath.Dir(path); !looked[dir] && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
			looked[dir] = true
			file := filepath.Join(dir, "package.json")
			if text, err := os.ReadFile(file); err == nil {
				w.seen[file] = fileOf(file, text)
				break
			}
		}
	}
}

// absolute makes the paths of files in a source map absolute.
func absolute(text []byte, dir string) []byte {
	var m map[string]any
	if json.Unmarshal(text, &m) != nil {
		return text
	}
	sources, _ := m["sources"].([]any)
	for i, s := range sources {
		if name, ok := s.(string); ok && !filepath.IsAbs(name) {
			sources[i] = filepath.Join(dir, filepath.FromSlash(name))
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return text
	}
	return out
}

// diagnostics converts esbuild's errors, with locations in the files.
func (w *work) diagnostics(list []api.Message) tool.Diagnostics {
	var all tool.Diagnostics
	for _, m := range list {
		d := tool.Diagnostic{Code: "bundle", Severity: tool.Error, Pos: tool.Pos{File: w.request.File, Line: 1, Col: 1}, Message: m.Text}
		if l := m.Location; l != nil && l.Namespace != startNamespace {
			d.Pos = tool.Pos{File: l.File, Line: l.Line, Col: column(l.LineText, l.Column)}
			if !filepath.IsAbs(l.File) {
				d.Pos.File = filepath.Join(filepath.Dir(w.request.File), l.File)
			}
			d.Len = l.Length
			if l.Suggestion != "" {
				d.Hint = "write " + l.Suggestion
			}
		}
		for _, n := range m.Notes {
			if d.Hint == "" {
				d.Hint = n.Text
			}
		}
		all = append(all, d)
	}
	return all.Sorted()
}

// column converts an offset in bytes to a column in characters, which starts at 1.
func column(line string, bytes int) int {
	return utf8.RuneCountInString(line[:min(bytes, len(line))]) + 1
}
