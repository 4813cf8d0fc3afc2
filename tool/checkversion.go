package tool

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// versions looks at what a definition says of versions: its own, those of its
// changelog, and the lowest that can run it.
func (d *decoder) versions(t *draft, content []*yaml.Node) {
	if at := valueOf(content, "version"); at != nil && t.Version != "" {
		d.path.push("version")
		d.version(deref(at), t.Version)
		d.path.pop()
	}
	for _, min := range []struct {
		key string
		at  *Text
	}{{"min-cycod-version", t.MinVersion}, {"min-flowrun-version", t.MinFlowrun}} {
		if min.at == nil || levelForm().MatchString(min.at.S) {
			continue
		}
		if _, _, ok := ParseVersion(min.at.S); !ok {
			d.path.push(min.key)
			d.fail(deref(valueOf(content, min.key)), "bad-version", fmt.Sprintf("cannot read %s as a version", quote(min.at.S)), `write up to three numbers: "1.2.0"`)
			d.path.pop()
		}
	}
	if log := valueOf(content, "changelog"); log != nil {
		d.path.push("changelog")
		d.changelog(t.Changelog)
		d.path.pop()
	}
}

// version reports a version that is no semantic version.
func (d *decoder) version(n *yaml.Node, s string) {
	v, exact, ok := ParseVersion(s)
	switch {
	case !ok:
		d.fail(n, "bad-version", fmt.Sprintf("%s is no version", quote(s)), "write three numbers, as semantic versioning has them: 1.4.0, or 2.0.0-beta.1 before a release")
	case !exact:
		d.warn(n, "short-version", fmt.Sprintf("%s is no semantic version: that has three numbers", quote(s)), fmt.Sprintf("write %d.%d.%d", v.Major, v.Minor, v.Patch))
	}
}

// changelog reports versions that stand twice, and versions out of order. Both orders
// are good, the newest first or last.
func (d *decoder) changelog(log []Change) {
	var before *Version
	var at Pos
	seen := map[Version]Pos{}
	order := 0
	for i, c := range log {
		v, _, ok := ParseVersion(c.Version)
		if !ok {
			if c.Version != "" {
				d.reportVersion(i, c, Error, "bad-version", quote(c.Version)+" is no version", "write three numbers: 1.4.0", Pos{})
			}
			continue
		}
		if first, twice := seen[v]; twice {
			d.reportVersion(i, c, Warning, "changelog-twice", fmt.Sprintf("version %s stands in the changelog twice", quote(c.Version)), "join the two entries", first)
			continue
		}
		seen[v] = c.Pos
		if before != nil {
			step := before.Compare(v)
			if order != 0 && step != order {
				d.reportVersion(i, c, Warning, "changelog-order", fmt.Sprintf("version %s stands out of order in the changelog", quote(c.Version)), "sort the entries by version, the newest first or last", at)
				continue
			}
			order = step
		}
		before, at = &v, c.Pos
	}
}

func (d *decoder) reportVersion(i int, c Change, s Severity, code, message, hint string, other Pos) {
	one := Diagnostic{Code: code, Severity: s, Pos: c.Pos, Len: len([]rune(c.Version)), Path: fmt.Sprintf("%s[%d].version", d.path.String(), i), Message: message, Hint: hint}
	if other.Line > 0 {
		one.Related = []Place{{Pos: other, Len: 1, Message: "the other one"}}
	}
	d.report(one)
}
