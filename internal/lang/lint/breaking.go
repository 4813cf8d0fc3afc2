package lint

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/version"
)

// Breaking returns the changes of a tool's parameters since an older definition that break its callers: a parameter was
// removed or is newly required, or its type, enum or range became narrower. It returns nothing if the major version was
// raised; below 1.0.0, as in semantic versioning, a new minor version is enough. If one of the versions is missing or
// invalid, all such changes are returned.
func Breaking(before, now *tool.Definition) tool.Diagnostics {
	if versionRaised(before, now) {
		return nil
	}
	var found tool.Diagnostics
	say := func(at tool.Pos, width int, path, message string) {
		found = append(found, tool.Diagnostic{Code: "breaking-change", Severity: tool.Warning, Pos: at, Len: width, Path: path, Message: message, Hint: nextVersion(now)})
	}
	old := map[string]*tool.Parameter{}
	for _, p := range before.Parameters {
		old[p.Name] = p
	}
	for _, p := range now.Parameters {
		was := old[p.Name]
		delete(old, p.Name)
		for _, m := range narrower(was, p) {
			say(p.Pos, len([]rune(p.Name)), "parameters."+p.Name, m)
		}
	}
	for _, p := range before.Parameters {
		if old[p.Name] != nil {
			say(now.Pos, 1, "parameters", fmt.Sprintf("parameter %s was removed", p.Name))
		}
	}
	return found.Sorted()
}

func versionRaised(before, now *tool.Definition) bool {
	a, _, okA := version.Parse(before.Version)
	b, _, okB := version.Parse(now.Version)
	if !okA || !okB {
		return false
	}
	return b.Major > a.Major || a.Major == 0 && b.Major == 0 && b.Minor > a.Minor
}

func nextVersion(now *tool.Definition) string {
	v, _, ok := version.Parse(now.Version)
	switch {
	case !ok:
		return "give the tool a version, and raise its major number with each breaking change"
	case v.Major == 0:
		return fmt.Sprintf("raise version to 0.%d.0, or undo the change", v.Minor+1)
	}
	return fmt.Sprintf("raise version to %d.0.0, or undo the change", v.Major+1)
}

// narrower describes how a parameter accepts less than before. was is nil for a new parameter.
func narrower(was, now *tool.Parameter) []string {
	needed := now.Required && now.Default == nil
	switch {
	case was == nil && needed:
		return []string{fmt.Sprintf("parameter %s is new and required, so existing calls fail", now.Name)}
	case was == nil:
		return nil
	}
	var list []string
	if needed && !(was.Required && was.Default == nil) {
		list = append(list, fmt.Sprintf("parameter %s is now required, so calls without it fail", now.Name))
	}
	if was.Type != now.Type && now.Type != "string" {
		list = append(list, fmt.Sprintf("parameter %s changed its type from %s to %s", now.Name, was.Type, now.Type))
	}
	a, b := was.Validation, now.Validation
	if missing := removedValue(a.Enum, b.Enum); missing != "" {
		list = append(list, fmt.Sprintf("parameter %s no longer accepts %s", now.Name, missing))
	}
	if b.Minimum != nil && (a.Minimum == nil || *a.Minimum < *b.Minimum) {
		list = append(list, fmt.Sprintf("parameter %s has a higher minimum", now.Name))
	}
	if b.Maximum != nil && (a.Maximum == nil || *a.Maximum > *b.Maximum) {
		list = append(list, fmt.Sprintf("parameter %s has a lower maximum", now.Name))
	}
	if b.MinLength != nil && *b.MinLength > 0 && (a.MinLength == nil || *a.MinLength < *b.MinLength) {
		list = append(list, fmt.Sprintf("parameter %s has a higher minLength", now.Name))
	}
	if b.MaxLength != nil && (a.MaxLength == nil || *a.MaxLength > *b.MaxLength) {
		list = append(list, fmt.Sprintf("parameter %s has a lower maxLength", now.Name))
	}
	if b.Pattern != nil && (a.Pattern == nil || a.Pattern.S != b.Pattern.S) {
		list = append(list, fmt.Sprintf("parameter %s has a new pattern", now.Name))
	}
	return list
}

// removedValue returns the first value that was removed from an enum. A new enum on a parameter without one removes all
// other values.
func removedValue(was, now []tool.Value) string {
	if len(now) == 0 {
		return ""
	}
	if len(was) == 0 {
		return "values outside its enum"
	}
	left := map[string]bool{}
	for _, v := range now {
		left[v.Spelling()] = true
	}
	for _, v := range was {
		if !left[v.Spelling()] {
			return v.Spelling()
		}
	}
	return ""
}
