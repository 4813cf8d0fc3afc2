package tool

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/version"
)

// checkVersions checks the version of the definition, those in its changelog, and the minimum versions that it requires.
func checkVersions(d *keytable.Decoder, t *Draft, content []*yaml.Node) {
	if at := keytable.ValueOf(content, "version"); at != nil && t.Version != "" {
		d.Path.Push("version")
		checkVersionText(d, keytable.Deref(at), t.Version)
		d.Path.Pop()
	}
	for _, min := range []struct {
		key string
		at  *Text
	}{{"min-cycod-version", t.MinVersion}, {"min-flowrun-version", t.MinFlowrun}} {
		if min.at == nil || levelForm().MatchString(min.at.S) {
			continue
		}
		if _, _, ok := version.Parse(min.at.S); !ok {
			d.Path.Push(min.key)
			d.Fail(keytable.Deref(keytable.ValueOf(content, min.key)), "bad-version", fmt.Sprintf("invalid version %s", diagnostic.Quote(min.at.S)), `write up to three numbers: "1.2.0"`)
			d.Path.Pop()
		}
	}
	if log := keytable.ValueOf(content, "changelog"); log != nil {
		d.Path.Push("changelog")
		checkChangelog(d, t.Changelog)
		d.Path.Pop()
	}
}

// checkVersionText reports a version that is not a semantic version.
func checkVersionText(d *keytable.Decoder, n *yaml.Node, s string) {
	v, exact, ok := version.Parse(s)
	switch {
	case !ok:
		d.Fail(n, "bad-version", fmt.Sprintf("invalid version %s", diagnostic.Quote(s)), "write a semantic version with three numbers: 1.4.0, or 2.0.0-beta.1 for a pre-release")
	case !exact:
		d.Warn(n, "short-version", fmt.Sprintf("version %s is not a semantic version, which has three numbers", diagnostic.Quote(s)), fmt.Sprintf("write %d.%d.%d", v.Major, v.Minor, v.Patch))
	}
}

// checkChangelog reports versions that appear twice, and versions out of order. The newest may be first or last.
func checkChangelog(d *keytable.Decoder, log []Change) {
	var before *version.Version
	var at Pos
	seen := map[version.Version]Pos{}
	order := 0
	for i, c := range log {
		v, _, ok := version.Parse(c.Version)
		if !ok {
			if c.Version != "" {
				reportVersion(d, i, c, Error, "bad-version", "invalid version "+diagnostic.Quote(c.Version), "write three numbers: 1.4.0", Pos{})
			}
			continue
		}
		if first, twice := seen[v]; twice {
			reportVersion(d, i, c, Warning, "changelog-twice", fmt.Sprintf("version %s is in the changelog twice", diagnostic.Quote(c.Version)), "merge the two entries", first)
			continue
		}
		seen[v] = c.Pos
		if before != nil {
			step := before.Compare(v)
			if order != 0 && step != order {
				reportVersion(d, i, c, Warning, "changelog-order", fmt.Sprintf("version %s is out of order in the changelog", diagnostic.Quote(c.Version)), "sort the entries by version, the newest first or last", at)
				continue
			}
			order = step
		}
		before, at = &v, c.Pos
	}
}

func reportVersion(d *keytable.Decoder, i int, c Change, s Severity, code, message, hint string, other Pos) {
	one := Diagnostic{Code: code, Severity: s, Pos: c.Pos, Len: len([]rune(c.Version)), Path: fmt.Sprintf("%s[%d].version", d.Path.String(), i), Message: message, Hint: hint}
	if other.Line > 0 {
		one.Related = []Place{{Pos: other, Len: 1, Message: "the other entry"}}
	}
	d.Report(one)
}
