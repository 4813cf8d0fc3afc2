package check

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// unused warns about parameters that the file names only as keys: where they are declared, and where tests and
// schedules set them. A script may use all parameters without naming them. A file in another format than YAML or JSON may
// use a parameter in code.
func unused(of *plan.Plan) (ds tool.Diagnostics) {
	def := of.Definition
	if def.Format != "" || def.Schema != nil || def.Alias || len(def.MadeOf) > 0 || len(def.Parameters) == 0 {
		return nil
	}
	onlyKey, mentioned := onlyKeys(string(def.Source)), of.Mentioned()
	if mentioned[plan.AnyArgument] {
		return nil
	}
	for _, p := range def.Parameters {
		if p.Pos.File != def.File || p.Pos.Line == 0 || p.Deprecated || !onlyKey[p.Name] || mentioned[p.Name] {
			continue
		}
		ds = append(ds, tool.Diagnostic{Code: "unused-parameter", Severity: tool.Warning, Pos: p.Pos, Len: len([]rune(p.Name)), Path: "parameters." + p.Name,
			Message: fmt.Sprintf("parameter %s is not used", p.Name), Hint: fmt.Sprintf("write {%s} where its value belongs, or remove it", p.Name)})
	}
	return ds
}

// onlyKeys returns the words of a file that are always the key of a mapping. A key that is written with escapes is not
// among them.
func onlyKeys(source string) map[string]bool {
	only := map[string]bool{}
	for rest := source; ; {
		begin := strings.IndexFunc(rest, inWord)
		if begin < 0 {
			return only
		}
		rest = rest[begin:]
		end := strings.IndexFunc(rest, func(c rune) bool { return !inWord(c) })
		if end < 0 {
			end = len(rest)
		}
		word := rest[:end]
		rest = rest[end:]
		if isKey := endsKey(rest); !isKey {
			only[word] = false
		} else if _, seen := only[word]; !seen {
			only[word] = true
		}
	}
}

// inWord reports whether a character can be in the name of a parameter.
func inWord(c rune) bool {
	return c == '_' || c == '-' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// endsKey reports whether the word before a text is a key.
func endsKey(text string) bool {
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		text = text[1:]
	}
	after, found := strings.CutPrefix(text, ":")
	return found && (after == "" || strings.ContainsRune(" \t\r\n\f", rune(after[0])))
}
