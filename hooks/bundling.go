package hooks

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/tool"
)

// BundleRequest is a file of which one module is to be made.
type BundleRequest struct {
	File   string
	Source []byte
	About
}

// About is what a bundle has to know of a tool beside its text. It is zero while the tool
// has not said yet what it is.
type About struct {
	Name         string
	Dependencies []tool.Dependency
	Node         bool // it runs under Node.js
}

func (a About) equal(b About) bool {
	return a.Name == b.Name && a.Node == b.Node && slices.Equal(a.Dependencies, b.Dependencies)
}

// about is what a description says that matters to a bundle.
func (d *description) about(file, name string) About {
	m := &tool.Module{File: file}
	def, _ := d.read(m, name)
	return About{Name: def.Name, Dependencies: m.Dependencies, Node: m.Node}
}

// bundles says whether a bundle is made of a file. A tool for Node.js in Node's own form is
// left as it is: Node finds what it needs.
func (l *loader) bundles(file string, src []byte, a About) bool {
	if a.Node {
		return len(a.Dependencies) > 0 && l.Bundle != nil || strings.HasSuffix(strings.ToLower(file), ".ts") || esModule().Match(src)
	}
	return len(a.Dependencies) > 0 && l.Bundle != nil || needsBundle(file, src)
}

// module is what is run of a file: the file itself where it is whole, else a bundle.
func (l *loader) module(file string, src []byte, a About, whole bool) (*tool.Module, tool.Diagnostics) {
	if whole || !l.bundles(file, src, a) {
		return &tool.Module{File: file, Code: src}, nil
	}
	if l.Bundle == nil {
		return nil, tool.Diagnostics{{Code: "no-bundler", Message: "the file is an ES module, is written in TypeScript or needs packages, but this program cannot bundle them",
			Hint: "write it as CommonJS (module.exports = ...) without packages, or use the flowrun command"}}
	}
	return l.Bundle(BundleRequest{file, src, a})
}

// asked describes a file. What it depends on is known only when it has said so: then it is
// bundled with that and asked again, as its answers may need it.
func (l *loader) asked(file, name string, src []byte, m *tool.Module, about About, bad tool.Diagnostics) (described, *tool.Module, tool.Diagnostics) {
	for {
		answer, problem := l.describe(m, name)
		if problem != nil {
			return described{}, nil, append(bad, *problem)
		}
		next := answer.about(file, name)
		again := !next.equal(about) && l.bundles(file, src, next)
		if again {
			if m, bad = l.module(file, src, next, false); m == nil {
				return described{}, nil, bad
			}
		}
		if !again || next.Node || about.Name != "" { // described with what it depends on, or by Node alone
			return described{Bundled: string(m.Code) != string(src), Code: tool.DigestOf(m.Code), Answer: *answer, About: next}, m, bad
		}
		about = next
	}
}
