package plan

import (
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Name is the name of a tool, as the definition From contains it; nil for the caller.
type Name struct {
	Name string
	From *tool.Definition
}

// Current reports whether compiling again would give the same plan: every name still leads to the same definition.
// A Library returns the same one until the file has changed, or another file, scope or provider has the name.
func (p *Plan) Current(lib *library.Library) bool {
	for name, was := range p.Found {
		if is, _, err := lib.Lookup(name.Name, name.From); err != nil || is != was {
			return false
		}
	}
	return true
}
