package catalog

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Tool is one entry of a list of tools.
type Tool struct {
	Name        string
	Description string
	Scope       string
	Kind        string // how it is defined: yaml, json, markdown, javascript, go, builtin, discovered or mcp
	Category    string
	Version     string
	Tags        []string
	Deprecated  bool
	BaseTool    string   // of an alias
	Broken      string   // why its newest version is invalid; "" if it is valid
	File        string   // "" if it is not in a file
	Scheduled   bool     // it has schedules, or events that start it; of an invalid one, whether it had some
	Steps       []string // paths of the steps of its last valid version, without attempts and items
}

// entry is one tool.
type entry struct {
	listed  Tool
	file    string
	sources []tool.Source // of the last valid version; empty if there was none
	plan    *engine.Plan  // compiled from sources; nil until it is requested
}

// maxPaths is the number of steps of a tool that are known by path.
const maxPaths = 1000

// newEntry makes the entry of a tool from its plan, or from the error why it has none, and
// from its former entry.
func newEntry(l library.Listed, plan *engine.Plan, err error, old *entry) *entry {
	e := &entry{file: l.Path, listed: Tool{Name: l.Name, Description: l.Description, Scope: string(l.Scope), Kind: kindOf(l.Scope, l.Path),
		Category: l.Category, Version: l.Version, Tags: l.Tags, Deprecated: l.Deprecated, BaseTool: l.BaseTool, File: l.Path, Scheduled: l.Scheduled}}
	switch {
	case err != nil && old != nil:
		*e = *old
		e.listed.Broken = reason(err)
	case err != nil:
		e.listed.Broken = reason(err)
	default:
		e.listed.Steps = engine.Paths(plan, maxPaths)
		e.sources = plan.Sources()
		if len(e.sources) == 0 { // defined in Go
			e.plan = plan
		} else if old != nil && sameSources(old.sources, e.sources) {
			e.plan = old.plan
		}
	}
	return e
}

// kindOf returns how a tool is defined.
func kindOf(scope tool.Scope, file string) string {
	switch scope {
	case tool.ScopeGo, tool.ScopeBuiltin, tool.ScopeDiscovered, tool.ScopeMCP:
		return string(scope)
	}
	for kind, extension := range extensions {
		if tool.Extension(file) == extension {
			return kind
		}
	}
	return "yaml"
}

// files returns the files that the tool was made of.
func (e *entry) files() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, src := range e.sources {
			if !yield(src.File) {
				return
			}
			for _, part := range src.Files {
				if !yield(part.Path) {
					return
				}
			}
		}
	}
}

// reason returns why a definition is invalid, on one line with its location.
func reason(err error) string {
	var ds tool.Diagnostics
	if errors.As(err, &ds) {
		for _, d := range ds {
			if d.Severity == tool.Error {
				return d.String()
			}
		}
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func sameSources(a, b []tool.Source) bool {
	return slices.EqualFunc(a, b, func(x, y tool.Source) bool {
		return x.From == y.From && x.Name == y.Name && x.File == y.File && x.Digest == y.Digest
	})
}
