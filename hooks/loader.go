package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/js/jscheck"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// LoaderConfig configures how .tool.js files are read. The zero LoaderConfig works in a program
// that calls flowrun.HelperMain.
type LoaderConfig struct {
	// Runtime runs the code that describes tools. The caller closes it. nil: each file is
	// described by a Runtime of its own.
	Runtime *Runtime
	// Cache is a folder for descriptions, so that each file is described only once. It is
	// created when it is needed. "": no cache.
	Cache string
	// Ahead runs no JavaScript: only the name is known of a file that is not in the Cache. For
	// completion.
	Ahead bool
	// Context ends the reading of files: once it is done, no further tool is described. nil:
	// context.Background().
	Context context.Context
	// Bundle makes one module of a file that consists of several: ES modules, TypeScript, or a
	// file that needs packages. nil: such files are refused. It must be safe for concurrent use.
	Bundle func(BundleRequest) (*tool.Module, tool.Diagnostics)
}

// Extensions returns the extensions of files with JavaScript tools.
func Extensions() []string { return []string{".tool.js", ".tool.ts"} }

// describeTimeout limits how long a tool may take to describe itself, which needs no real work.
const describeTimeout = 2 * time.Second

// Loader returns a loader of .tool.js and .tool.ts files. It runs the methods that describe the
// tool and makes a Definition of the results, or reports everything that is wrong with them. To
// make a Library use it:
//
//	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{}))
//
// The Loader is safe for concurrent use.
func Loader(c LoaderConfig) tool.Loader {
	if c.Context == nil {
		c.Context = context.Background()
	}
	return (&loader{LoaderConfig: c, timeout: describeTimeout}).load
}

type loader struct {
	LoaderConfig
	timeout  time.Duration // of one file
	failures failures
}

func (l *loader) load(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
	if def, found := readStoredBundle(file, src); def != nil {
		return def, found
	}
	def, found := l.definition(file, src)
	def.Source = src
	return def, found
}

func (l *loader) definition(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
	name := toolStem(file)
	if len(src) > diagnostic.MaxFileSize {
		return unreadable(file, name, tool.Diagnostic{Code: "file-too-large", Message: fmt.Sprintf("the file is larger than %d bytes", diagnostic.MaxFileSize), Hint: "move large data to another file, and read it in execute"})
	}
	src = diagnostic.WithoutMark(src)
	key := descriptionKey(file, src)
	kept, known := l.readDescription(key)
	if l.Ahead {
		if !known {
			kept = cachedDescription{Answer: description{Methods: []string{"execute"}}}
		}
		def, _ := kept.Answer.definition(&tool.Module{File: file, Code: src}, name)
		return def, nil
	}
	m, bad := l.loadModule(file, src, kept.About, known && !kept.Bundled)
	if m == nil {
		return unreadable(file, name, bad...)
	}
	if !known || kept.Bundled && kept.Code != tool.DigestOf(m.Code) {
		if kept, m, bad = l.describeFile(file, name, src, m, kept.About, bad); m == nil {
			return unreadable(file, name, bad...)
		}
		l.storeDescription(key, kept)
	}
	def, found := kept.Answer.definition(m, name)
	if kept.Bundled {
		def.Files = m.Files
		def.HistoryText = storedBundle(m, kept.Answer)
	} else if m.Node {
		def.Files = requiredFiles(file, src)
	}
	def.Cacheable = !kept.Bundled && !m.Node && len(m.Dependencies) == 0
	return def, append(bad, found...).Sorted()
}

// unreadable returns the definition of a file that could not be read, with its diagnostics.
func unreadable(file, name string, bad ...tool.Diagnostic) (*tool.Definition, tool.Diagnostics) {
	for i := range bad {
		if bad[i].Severity == "" {
			bad[i].Severity = tool.Error
		}
		if bad[i].Pos.Line == 0 {
			bad[i].Pos = tool.Pos{File: file, Line: 1, Col: 1}
		}
	}
	return &tool.Definition{Name: name, File: file, Pos: tool.Pos{File: file, Line: 1, Col: 1}, Format: tool.JavaScript}, tool.Diagnostics(bad).Sorted()
}

// toolStem returns a file's name without the extension of a tool.
func toolStem(file string) string {
	base := filepath.Base(file)
	for _, e := range Extensions() {
		if len(base) > len(e) && strings.EqualFold(base[len(base)-len(e):], e) {
			return base[:len(base)-len(e)]
		}
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// describe runs the methods that describe a tool.
func (l *loader) describe(m *tool.Module, name string) (*description, *tool.Diagnostic) {
	key := l.failureKey(m, name)
	if d := l.knownFailure(key, m); d != nil {
		return nil, d
	}
	if d := l.exhausted(l.Context); d != nil {
		return nil, d
	}
	rt := l.Runtime
	if rt == nil {
		rt = New(Config{})
		defer rt.Close()
	}
	began := time.Now()
	answer, err := rt.Call(l.Context, jsrun.Call{Script: jsrun.CompileModule(m), Entry: "describe", Timeout: l.timeout,
		Vars: map[string]any{"tool": map[string]any{"id": name}}})
	if err != nil {
		d := l.notDescribed(m, err)
		if worthRemembering(err) && l.Context.Err() == nil {
			l.remember(key, d, time.Since(began))
		}
		return nil, d
	}
	d := &description{}
	if err := json.Unmarshal(answer, d); err != nil {
		return nil, &tool.Diagnostic{Code: "tool-threw", Message: "cannot read the description of the tool: " + err.Error()}
	}
	for i := range d.Problems {
		d.Problems[i].locate(m.File)
	}
	return d, nil
}

// notDescribed returns the diagnostic for a tool that could not be described.
func (l *loader) notDescribed(m *tool.Module, err error) *tool.Diagnostic {
	var e *jsrun.Error
	if !errors.As(err, &e) {
		return &tool.Diagnostic{Code: "tool-unloadable", Message: "cannot read the tool: " + err.Error()}
	}
	d := &tool.Diagnostic{Code: "tool-unloadable", Pos: e.Pos, Hint: "reading the file must be fast: do the work in execute, not at the top level of the file"}
	switch e.Kind {
	case jsrun.KindTimeout:
		d.Message = fmt.Sprintf("the tool did not return its description within %s", l.timeout)
	case jsrun.KindMemory:
		d.Message = "the tool exceeded its memory limit before it returned its description"
	case jsrun.KindThrown:
		d.Code, d.Message, d.Hint = "tool-threw", "reading the file threw "+e.Error(), problemHints["tool-threw"]
		if e.Name == "SyntaxError" {
			syntax(m, d)
		}
	default:
		d.Message = "cannot read the tool: " + e.Error()
	}
	if d.Pos.File != m.File {
		d.Pos = tool.Pos{}
	}
	return d
}

// syntax turns d into a syntax error with its position if the file itself cannot be parsed. If
// the file is valid, the SyntaxError comes from text that it evaluated, and d stays as it is.
func syntax(m *tool.Module, d *tool.Diagnostic) {
	s := jscheck.SourceOf(m)
	_, bad := s.Parse()
	if bad == nil {
		return
	}
	d.Code, d.Message, d.Hint = "js-syntax", "JavaScript syntax error: "+bad.Message, "fix the file at this position"
	d.Pos = s.Pos(bad.Off)
}
