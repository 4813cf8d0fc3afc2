package hooks

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// BundleRequest is a file to be bundled into one module.
type BundleRequest struct {
	File   string
	Source []byte
	About
}

// About is what a bundler needs to know of a tool in addition to its text. It is zero for a tool
// that has not been described yet.
type About struct {
	Name         string
	Dependencies []tool.Dependency
	Node         bool // the tool runs under Node.js
}

func (a About) equal(b About) bool {
	return a.Name == b.Name && a.Node == b.Node && slices.Equal(a.Dependencies, b.Dependencies)
}

// about returns the part of a description that affects the bundle.
func (d *description) about(file, name string) About {
	m := &tool.Module{File: file}
	def, _ := d.definition(m, name)
	return About{Name: def.Name, Dependencies: m.Dependencies, Node: m.Node}
}

// mustBundle reports whether a file must be bundled. A CommonJS tool for Node.js without
// dependencies is left as it is, because Node resolves what it requires.
func (l *loader) mustBundle(file string, src []byte, a About) bool {
	if a.Node {
		return len(a.Dependencies) > 0 && l.Bundle != nil || strings.HasSuffix(strings.ToLower(file), ".ts") || esModule().Match(src)
	}
	return l.Bundle != nil && (len(a.Dependencies) > 0 || asyncIteration().Match(src)) || needsBundle(file, src)
}

// loadModule returns the module to run for a file: the file itself if it is whole or needs no
// bundle, or else a bundle.
func (l *loader) loadModule(file string, src []byte, a About, whole bool) (*tool.Module, tool.Diagnostics) {
	if whole || !l.mustBundle(file, src, a) {
		return &tool.Module{File: file, Code: src}, nil
	}
	if l.Bundle == nil {
		return nil, tool.Diagnostics{{Code: "no-bundler", Message: "the file is an ES module, is written in TypeScript or needs packages, but this program cannot bundle them",
			Hint: "write it as CommonJS (module.exports = ...) without packages, or use the flowrun command"}}
	}
	return l.Bundle(BundleRequest{file, src, a})
}

// describeFile describes a file. Its dependencies are known only from the description. If they
// require another bundle, the file is bundled with them and described a second time, because its
// methods may use the dependencies.
func (l *loader) describeFile(file, name string, src []byte, m *tool.Module, about About, bad tool.Diagnostics) (cachedDescription, *tool.Module, tool.Diagnostics) {
	for {
		answer, problem := l.describe(m, name)
		if problem != nil {
			return cachedDescription{}, nil, append(bad, *problem)
		}
		next := answer.about(file, name)
		again := !next.equal(about) && l.mustBundle(file, src, next)
		if again {
			if m, bad = l.loadModule(file, src, next, false); m == nil {
				return cachedDescription{}, nil, bad
			}
		}
		if !again || next.Node || about.Name != "" { // described with its dependencies, or Node will find them
			return cachedDescription{Bundled: string(m.Code) != string(src), Code: tool.DigestOf(m.Code), Answer: *answer, About: next}, m, bad
		}
		about = next
	}
}
