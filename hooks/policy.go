package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// policyKeys maps keys of getMetadata to the keys that YAML tools have for the same settings.
// They are decoded by the same code, so that they mean the same.
var policyKeys = map[string]string{
	"retry":       "error-handling.retry",
	"timeout":     "timeout",
	"permissions": "security.required-permissions",
	"platforms":   "platforms",
	"deprecated":  "deprecated",
}

// otherKeys are the other known keys of getMetadata, including some that only other programs
// use.
var otherKeys = []string{"id", "name", "description", "version", "author", "category", "subcategory", "tags", "keywords", "runtime", "scenarios", "limitations", "manual"}

// policy reads retry, timeout, permissions, platforms and deprecated.
func (r *descriptionReader) policy(keys map[string]json.RawMessage) {
	doc := map[string]any{}
	for key, path := range policyKeys {
		v, given := keys[key]
		if !given {
			continue
		}
		outer, inner, nested := strings.Cut(path, ".")
		if !nested {
			doc[outer] = v
			continue
		}
		doc[outer] = map[string]json.RawMessage{inner: kebabKeys(key, v)}
	}
	if len(doc) == 0 {
		return
	}
	doc["name"], doc["description"], doc["run"] = r.def.Name, "-", "true"
	text, err := json.Marshal(doc)
	if err != nil {
		return // cannot happen: the values are JSON
	}
	def, found := decode.File("", text)
	for _, d := range found {
		for key, path := range policyKeys {
			if rest, ok := strings.CutPrefix(d.Path, path); ok {
				r.report(d.Code, d.Severity, "getMetadata", key+rest, d.Message, d.Hint)
			}
		}
	}
	r.def.ErrorHandling, r.def.Timeout, r.def.Security = def.ErrorHandling, def.Timeout, def.Security
	r.def.Platforms, r.def.Deprecated = def.Platforms, def.Deprecated
	if retry := r.def.ErrorHandling.Retry; retry != nil {
		retry.Pos = r.def.Pos
	}
	for i := range r.def.Security.RequiredPermissions {
		p := &r.def.Security.RequiredPermissions[i]
		*p = tool.Text{S: p.S, Pos: r.def.Pos}
	}
}

// kebabKeys renames the keys of retry to those of YAML tools: maxDelay becomes max-delay.
func kebabKeys(key string, v json.RawMessage) json.RawMessage {
	var inner map[string]json.RawMessage
	if key != "retry" || json.Unmarshal(v, &inner) != nil {
		return v
	}
	renamed := map[string]json.RawMessage{}
	for k, e := range inner {
		renamed[upperLetter().ReplaceAllStringFunc(k, func(s string) string { return "-" + strings.ToLower(s) })] = e
	}
	text, err := json.Marshal(renamed)
	if err != nil {
		return v
	}
	return text
}

// warnSimilarKeys warns about unknown keys of getMetadata that are similar to known ones. Other
// unknown keys are allowed.
func (r *descriptionReader) warnSimilarKeys(keys map[string]json.RawMessage) {
	known := slices.Concat(otherKeys, slices.Sorted(maps.Keys(policyKeys)))
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if near := diagnostic.Near(key, known); len(near) > 0 && !slices.Contains(known, key) {
			r.report("unknown-key", tool.Warning, "getMetadata", key, fmt.Sprintf("unknown key %s in the result of getMetadata", key), "did you mean "+near[0]+"?")
		}
	}
}

var (
	upperLetter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Z]`) })
	packageName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]{0,213}$`)
	})
)

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
