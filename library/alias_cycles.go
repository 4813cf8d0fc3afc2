package library

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// markCycles adds an error to every alias of a list that runs itself, if only through other aliases. That depends on
// more than the alias's own file, so it is found out for each listing. lookup finds tools in files, nil if there is none.
func markCycles(all []Listed, lookup func(name string, from *tool.Definition) *tool.Definition) {
	for i, e := range all {
		if e.BaseTool == "" || e.Broken() != "" {
			continue
		}
		if cycle := aliasCycle(e, lookup); cycle != nil {
			all[i].Diagnostics = append(slices.Clip(e.Diagnostics), tool.Diagnostic{Code: "recursion", Severity: tool.Error, Pos: e.BaseToolPos, Len: len([]rune(e.BaseTool)),
				Message: "tools use each other in a cycle: " + strings.Join(cycle, " -> "), Hint: "a tool cannot use itself, not even through other tools"})
		}
	}
}

// aliasCycle returns the names of the tools from the first one that an alias reaches twice, to that one again. It is
// nil if the alias ends at another tool, or at a name that is not in a file.
func aliasCycle(e Listed, lookup func(name string, from *tool.Definition) *tool.Definition) []string {
	chain := []string{e.Name}
	at := &tool.Definition{Name: e.Name, File: e.Path, Alias: true, BaseTool: tool.Text{S: e.BaseTool}}
	for at.Alias {
		if at = lookup(at.BaseTool.S, at); at == nil {
			return nil
		}
		if i := slices.Index(chain, at.Name); i >= 0 {
			return append(chain[i:], at.Name)
		}
		chain = append(chain, at.Name)
	}
	return nil
}

// lookupFile is Lookup for tools in files. It returns nil if there is none.
func (l *Library) lookupFile(name string, from *tool.Definition) *tool.Definition {
	if l.formats.isPath(name) {
		def, _, _ := l.reader.load(l.resolve(name, from), tool.ScopeFile)
		return def
	}
	first, last := l.folders.searchOrder(from)
	def, _, err := l.lookupFolders(first, name)
	if def == nil && err == nil {
		def, _, _ = l.lookupInProject(last, name)
	}
	return def
}
