package permission

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Permission is one entry of a tool's required-permissions, for one call.
type Permission struct {
	Written string `json:"written"` // as in the definition: filesystem:write:{DIR}
	// Resolved is what a person approves: it has the parameters of the call, and the real location of a path
	// without . and .. and symbolic links. What is not known before the run stays as it is written.
	Resolved string `json:"resolved"`
	// Away means that a value of the caller leads the path to where the author did not mean it. Such a permission is shown,
	// because a person may allow the call, and grants nothing.
	Away bool `json:"-"`
}

// permissionKinds lists the first two words that a permission may have.
var permissionKinds = map[string][]string{
	"filesystem": {"read", "write", "execute"},
	"network":    {"external", "local"},
}

// Forms says how permissions are written, for hints.
const Forms = "write permissions as filesystem:read:PATH, filesystem:write:PATH, filesystem:execute:PROGRAM, " +
	"network:external:HOST, network:local:HOST, tool:NAME, environment:NAME or model"

// Problem returns what is wrong with the form of a permission, "" for nothing.
func Problem(s string) string {
	kind, rest, _ := strings.Cut(s, ":")
	verb, target, _ := strings.Cut(rest, ":")
	if strings.HasPrefix(kind, "{") || strings.HasPrefix(verb, "{") {
		return ""
	}
	verbs, known := permissionKinds[kind]
	switch {
	case s == modelPermission:
		return ""
	case kind+":" == toolPrefix && rest != "":
		if _, err := path.Match(rest, ""); err != nil {
			return fmt.Sprintf("the permission %q has an unclosed bracket", s)
		}
		return ""
	case EnvironmentPrefix == kind+":":
		if !value.IsVariableName(rest) {
			return fmt.Sprintf("the permission %q has no valid name of an environment variable", s)
		}
		return ""
	case !known:
		return fmt.Sprintf("the permission %q has an unknown kind", s)
	case rest == "" && kind == "network":
		return ""
	case len(diagnostic.Near(verb, verbs)) > 0 || !strings.Contains(" "+strings.Join(verbs, " ")+" ", " "+verb+" "):
		return fmt.Sprintf("the permission %q has the unknown verb %q; verbs of %s: %s", s, verb, kind, strings.Join(verbs, ", "))
	case target == "" && kind == "filesystem":
		return fmt.Sprintf("the permission %q has no path", s)
	}
	return ""
}

// IsProgramName reports whether a program is written without a folder. Such a program is searched in PATH,
// and is never a file of the workspace.
func IsProgramName(s string) bool {
	return !strings.ContainsAny(s, `/\`) && s != "~" && s != "." && s != ".." && filepath.VolumeName(s) == ""
}

// maxLinks limits the symbolic links in one path, as kernels do.
const maxLinks = 40

// RealPath returns the real location of an absolute path. It resolves the parts one by one, so that .. is
// relative to the target of a link, as it is for the system. Parts that do not exist yet stay as
// they are written.
func RealPath(path string) string {
	volume := filepath.VolumeName(path)
	top := volume + string(filepath.Separator)
	at, rest, links := top, strings.Split(filepath.ToSlash(path[len(volume):]), "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		target, err := os.Readlink(next)
		if err != nil || links == maxLinks { // not a link, or missing
			at = next
			continue
		}
		links++
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
		if filepath.IsAbs(target) {
			at = top
		}
	}
	return at
}
