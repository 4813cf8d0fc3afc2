package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/jscheck"
	"github.com/flowrun/flowrun/tool"
)

// LoaderConfig is how .tool.js files are read. The zero LoaderConfig works where this
// program calls Main.
type LoaderConfig struct {
	// Runtime describes tools; whoever gives it closes it. nil: each reading has one of its
	// own.
	Runtime *Runtime
	// Cache is a folder, made when it is needed, for what tools said of themselves, so that
	// a file is asked once; "" for none.
	Cache string
	// Ahead has no JavaScript run: of a file that is not in the Cache no more is known than
	// its name. For completion.
	Ahead bool
	// Context ends the reading of files: once it is done no tool is asked. nil:
	// context.Background().
	Context context.Context
	// Bundle makes one module of a file that consists of several: ES modules, TypeScript,
	// what needs packages. nil: such files are refused. It is called from several
	// goroutines at once.
	Bundle func(BundleRequest) (*tool.Module, tool.Diagnostics)
}

// Extensions are what files of tools in JavaScript end in.
func Extensions() []string { return []string{".tool.js", ".tool.ts"} }

// describeTimeout bounds how long a tool takes to say what it is, which is far from work.
const describeTimeout = 2 * time.Second

// Loader reads .tool.js and .tool.ts files: it asks the tool what it is, and
// makes a Definition of the answer or tells everything that is wrong with it. To have a
// Library read them:
//
//	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{}))
//
// The Loader is safe for concurrent use.
func Loader(c LoaderConfig) tool.Loader {
	if c.Context == nil {
		c.Context = context.Background()
	}
	l := &loader{LoaderConfig: c}
	return l.load
}

type loader struct {
	LoaderConfig
	failures failures
}

func (l *loader) load(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
	if def, found := restored(file, src); def != nil {
		return def, found
	}
	def, found := l.definition(file, src)
	def.Source = src
	return def, found
}

func (l *loader) definition(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
	name := toolStem(file)
	if len(src) > tool.MaxFileSize {
		return unread(file, name, tool.Diagnostic{Code: "file-too-large", Message: fmt.Sprintf("the file is larger than %d bytes", tool.MaxFileSize), Hint: "move large data to another file, and read it in execute"})
	}
	src = []byte(strings.TrimPrefix(string(src), "\ufeff"))
	key := descriptionKey(file, src)
	kept, known := l.recall(key)
	if l.Ahead {
		if !known {
			kept = described{Answer: description{Methods: []string{"execute"}}}
		}
		def, _ := kept.Answer.read(&tool.Module{File: file, Code: src}, name)
		return def, nil
	}
	m, bad := l.module(file, src, kept.About, known && !kept.Bundled)
	if m == nil {
		return unread(file, name, bad...)
	}
	if !known || kept.Bundled && kept.Code != tool.DigestOf(m.Code) {
		if kept, m, bad = l.asked(file, name, src, m, kept.About, bad); m == nil {
			return unread(file, name, bad...)
		}
		l.keep(key, kept)
	}
	def, found := kept.Answer.read(m, name)
	if kept.Bundled {
		def.Files = m.Files
		def.Kept = keptForm(m, kept.Answer)
	}
	def.Whole = !kept.Bundled && !m.Node && len(m.Dependencies) == 0
	return def, append(bad, found...).Sorted()
}

// unread is a file of which nothing but what is wrong with it is known.
func unread(file, name string, bad ...tool.Diagnostic) (*tool.Definition, tool.Diagnostics) {
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

// toolStem is a file's name without what says that it is a tool.
func toolStem(file string) string {
	base := filepath.Base(file)
	for _, e := range Extensions() {
		if len(base) > len(e) && strings.EqualFold(base[len(base)-len(e):], e) {
			return base[:len(base)-len(e)]
		}
	}
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// describe asks a tool what it is.
func (l *loader) describe(m *tool.Module, name string) (*description, *tool.Diagnostic) {
	key := l.failureKey(m, name)
	if d := l.failed(key, m); d != nil {
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
	answer, err := rt.Call(l.Context, Call{Script: CompileModule(m), Entry: "describe", Timeout: describeTimeout,
		Vars: map[string]any{"tool": map[string]any{"id": name}}})
	if err != nil {
		d := notDescribed(m, err)
		if worthRemembering(err) && l.Context.Err() == nil {
			l.remember(key, d, time.Since(began))
		}
		return nil, d
	}
	d := &description{}
	if err := json.Unmarshal(answer, d); err != nil {
		return nil, &tool.Diagnostic{Code: "tool-threw", Message: "cannot read the description of the tool: " + err.Error()}
	}
	return d, nil
}

// notDescribed is why a tool could not say what it is.
func notDescribed(m *tool.Module, err error) *tool.Diagnostic {
	var e *Error
	if !errors.As(err, &e) {
		return &tool.Diagnostic{Code: "tool-unloadable", Message: "cannot read the tool: " + err.Error()}
	}
	d := &tool.Diagnostic{Code: "tool-unloadable", Pos: e.Pos, Hint: "reading the file must be fast: do the work in execute, not at the top level of the file"}
	switch e.Kind {
	case KindTimeout:
		d.Message = fmt.Sprintf("the tool did not return its description within %s", describeTimeout)
	case KindMemory:
		d.Message = "the tool exceeded its memory limit before it returned its description"
	case KindThrown:
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

// syntax tells of code that cannot be parsed: of the file itself, or of text that it has
// evaluated.
func syntax(m *tool.Module, d *tool.Diagnostic) {
	s := jscheck.SourceOf(m)
	_, bad := s.Parse()
	if bad == nil {
		return
	}
	d.Code, d.Message, d.Hint = "js-syntax", "JavaScript syntax error: "+bad.Message, "fix the file at this position"
	d.Pos = s.Pos(bad.Off)
}
