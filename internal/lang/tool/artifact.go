package tool

import (
	"fmt"
	"path"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/os/devicename"
)

// Artifact is a file or folder of a step that is kept with the run.
type Artifact struct {
	Pos       Pos
	Name      string // as written, or from the path; "" if no name could be made of it
	NamePos   Pos    // of name, if it was written
	Path      *Text  // a path, a folder or a pattern
	When      string // "" (success), success, failure or always
	Optional  bool   // no file needs to match
	Retention *time.Duration
}

// artifactOutcomes are the values of when.
var artifactOutcomes = []string{"success", "failure", "always"}

func checkArtifact(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	a := into.(*Artifact)
	a.Pos = d.Pos(n)
	if keytable.KeyOf(content, "path") == nil {
		d.Fail(n, "bad-artifact", "the artifact has no path", "add 'path:', or write only the path")
	}
	if a.Retention != nil && *a.Retention < time.Second {
		d.Fail(n, "bad-artifact", "the retention of the artifact is too short", "write 1s or more, such as 30d; without retention, the artifact is kept as long as the run")
	}
}

// ArtifactName returns the name of an artifact without a name of its own: the last part of the path that is not a
// pattern, without extensions. It is "" if that is not a valid name.
func ArtifactName(pattern string) string {
	fixed := pattern
	if at := strings.IndexAny(pattern, "*?[{"); at >= 0 {
		fixed = pattern[:strings.LastIndexByte(pattern[:at], '/')+1]
	}
	name, _, _ := strings.Cut(strings.TrimLeft(path.Base(path.Clean(fixed)), "."), ".")
	if fixed == "" || !validArtifact(name) {
		return ""
	}
	return name
}

// validArtifact reports whether a name can be used in {step.artifacts.NAME} and as the name of a folder.
func validArtifact(name string) bool {
	return len(name) <= 128 && parameterName().MatchString(name) && !devicename.Is(name)
}

// checkArtifacts names the artifacts of all steps, and reports those without a path or with a bad name.
func checkArtifacts(d *keytable.Decoder, t *Draft, lists []stepList) {
	for _, l := range lists {
		for i, s := range l.steps {
			at := fmt.Sprintf("%s[%d].artifacts", l.path, i)
			if t.Single {
				at = "artifacts"
			}
			nameArtifacts(d, s, at)
		}
	}
}

func nameArtifacts(d *keytable.Decoder, s *Step, at string) {
	taken := map[string]bool{}
	for i := range s.Artifacts {
		a, at := s.Artifacts[i], fmt.Sprintf("%s[%d]", at, i)
		switch {
		case a.Path == nil: // already reported
			continue
		case a.NamePos.Line > 0 && !validArtifact(a.Name):
			reportAt(d, a.NamePos, Error, "bad-name", at+".name", diagnostic.Quote(a.Name)+" cannot be the name of an artifact",
				"use letters, digits, '_' and '-', beginning with a letter or '_', at most 128 characters")
			continue
		case a.NamePos.Line > 0:
		case a.Path.S == "": // reported as a bad pattern
			continue
		default:
			if a.Name = ArtifactName(a.Path.S); a.Name == "" {
				reportAt(d, a.Path.Pos, Error, "bad-artifact", at, "cannot make a name for the artifact "+diagnostic.Quote(a.Path.S), "write {path: ..., name: ...}")
				continue
			}
		}
		if key := strings.ToLower(a.Name); taken[key] {
			reportAt(d, a.Pos, Error, "bad-artifact", at, "two artifacts of step "+s.Name+" have the name "+a.Name, "write {path: ..., name: ...} with different names; upper and lower case count as the same")
		} else {
			taken[key] = true
		}
	}
}

// checkToolArtifacts reports artifacts at the top of a tool that has no command of its own.
func checkToolArtifacts(d *keytable.Decoder, t *Draft, content []*yaml.Node) {
	if key := keytable.KeyOf(content, "artifacts"); key != nil && !t.Alias && len(t.Steps) > 0 {
		d.FailKey(key, "bad-artifact", "a tool that has steps cannot have artifacts: they belong to a command", "add artifacts to the steps whose files flowrun should keep")
	}
}
