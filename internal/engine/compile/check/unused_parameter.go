package check

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// maxUnused limits the number of parameters that are searched for, because each search reads the whole file.
const maxUnused = 200

// unused warns about parameters that the file names only as keys: where they are declared, and where tests and
// schedules set them. A script may use all parameters without naming them. A file in another format than YAML or JSON may
// use a parameter in code.
func unused(of *plan.Plan) (ds tool.Diagnostics) {
	def := of.Definition
	if def.Format != "" || def.Schema != nil || def.Alias || len(def.MadeOf) > 0 {
		return nil
	}
	for _, p := range def.Parameters[:min(len(def.Parameters), maxUnused)] {
		if p.Pos.File != def.File || p.Pos.Line == 0 || p.Deprecated || mentions(def.Source, p.Name) || len(of.Mentioning(p.Name)) > 0 {
			continue
		}
		ds = append(ds, tool.Diagnostic{Code: "unused-parameter", Severity: tool.Warning, Pos: p.Pos, Len: len([]rune(p.Name)), Path: "parameters." + p.Name,
			Message: fmt.Sprintf("parameter %s is not used", p.Name), Hint: fmt.Sprintf("write {%s} where its value belongs, or remove it", p.Name)})
	}
	return ds
}

// mentions reports whether a file contains a name other than as the key of a mapping.
func mentions(source []byte, name string) bool {
	if bytes.Contains(source, []byte("{"+name+"}")) || !bytes.Contains(source, []byte(name)) { // the key is written with escapes
		return true
	}
	word := regexp.MustCompile(`(?m)(?:^|[^\w-])` + regexp.QuoteMeta(name) + `(?:(["']?:(?:\s|$))|[^\w-]|$)`)
	for _, m := range word.FindAllSubmatchIndex(source, -1) {
		if isKey := m[2] >= 0; !isKey {
			return true
		}
	}
	return false
}
