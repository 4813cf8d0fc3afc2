package call

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/programfile"
)

// Grants returns the permissions of the call. If an enforced tool uses this one, they are those that both have.
func Grants(a *Frame) permission.Grants {
	var list permission.Grants
	for _, p := range Permissions(a.Plan, a) {
		if !p.Away {
			list = append(list, p.Resolved)
		}
	}
	return a.withinOuter(list)
}

func (a *Frame) withinOuter(list permission.Grants) permission.Grants {
	if a.outer == nil {
		return list
	}
	return list.Within(*a.outer)
}

// Enforcement says for which tools of a run the permissions are enforced.
type Enforcement int

// The values of Enforcement.
const (
	EnforceDemanded Enforcement = iota // for those that demand it themselves
	EnforceAll                         // for all
	// EnforceModels is EnforceAll, but tools that do not demand it themselves may also read the project that the user
	// trusts: a model can read it anyway, with the built-in tools.
	EnforceModels
)

// Enforce sets for which tools the permissions are enforced, in this call and in those inside.
func (a *Frame) Enforce(e Enforcement) {
	a.Confine.Enforced = a.Confine.Enforced || e != EnforceDemanded
	a.readsProject = e == EnforceModels && a.RunEnv.Project != ""
}

// enforce limits the commands of the call to its permissions, if they are enforced.
func (a *Frame) enforce() {
	if a.Confine.Enforced {
		a.Confine.Grants = a.withProject(Grants(a))
	}
}

// Limit takes rights away from the call and from those inside, as if a tool with them used it. Permissions are resolved as
// those of the tool are.
func (a *Frame) Limit(c confinement.Confinement) {
	list := make(permission.Grants, len(c.Grants))
	for i, p := range c.Grants {
		list[i] = resolvePermission(a.RunEnv, p)
	}
	c.Grants = list
	a.confineWithin(&Frame{Confine: c})
}

// withProject adds what a call by a model may read in addition to the permissions of its tool.
func (a *Frame) withProject(list permission.Grants) permission.Grants {
	if !a.readsProject || a.Plan.Definition.Security.Enforce {
		return list
	}
	return slices.Concat(list, a.withinOuter(permission.Grants{permission.ReadPrefix + permission.RealPath(a.RunEnv.Project)}))
}

// enforceEarly is enforce for commands and files that set the environment of the call. Permissions that depend on
// this environment do not count yet.
func (a *Frame) enforceEarly() {
	if a.session.Observed() { // what the permissions lack should be found out
		a.Confine.Enforced = false
	}
	if !a.Confine.Enforced {
		return
	}
	var list permission.Grants
	for i, p := range Permissions(a.Plan, a) {
		if !p.Away && !slices.ContainsFunc(a.Plan.Permissions[i].Text.Refs(), func(r expr.Ref) bool { return r.Class == expr.Env }) {
			list = append(list, p.Resolved)
		}
	}
	a.Confine.Grants = a.withProject(a.withinOuter(list))
}

// Permissions returns the permissions that a call of the tool needs; a is nil if its parameters are not known.
func Permissions(p *plan.Plan, a *Frame) []permission.Permission {
	var list []permission.Permission
	for _, n := range p.Permissions {
		one := permission.Permission{Written: n.Written, Resolved: n.Written}
		if a != nil {
			text, err := n.Text.Text(Scope{Frame: a})
			switch {
			case errors.Is(err, expr.ErrUnknown):
				text = n.Text.Display(Scope{Frame: a}, nil)
			case err != nil:
				text = n.Written
			default:
				text = resolvePermission(a.RunEnv, text)
				one.Away = a.leadsAway(n.Text, text)
			}
			one.Resolved = a.session.Mask().String(text)
		}
		list = append(list, one)
	}
	return list
}

// resolvePermission returns a permission with the real path of its file or folder, links resolved. A program named
// without a folder is looked up in PATH.
func resolvePermission(w *RunEnv, p string) string {
	parts := strings.SplitN(p, ":", 3)
	if len(parts) < 3 || parts[0] != "filesystem" || parts[2] == "" {
		return p
	}
	path := parts[2]
	if parts[1] == "execute" && permission.IsProgramName(path) {
		if file, err := w.Program(path); err == nil {
			return permission.ExecutePrefix + file
		}
		return p // no such program, so nothing can be started with this permission
	}
	if path = w.FromHome(path); !filepath.IsAbs(path) { // not cleaned, because a link may be before ..
		path = w.Workspace + string(filepath.Separator) + path
	}
	return strings.Join([]string{parts[0], parts[1], permission.RealPath(path)}, ":")
}

// Program returns the file of a program, looked up in the PATH of flowrun. Relative folders in PATH are skipped,
// because they depend on where a step runs.
func (w *RunEnv) Program(name string) (string, error) {
	path := w.Vars["PATH"]
	for key, value := range w.Vars {
		if runtime.GOOS == "windows" && strings.EqualFold(key, "PATH") {
			path = value
		}
	}
	folders := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	if file, err := programfile.Search(name, folders); err == nil {
		return file, nil
	}
	return "", fmt.Errorf("cannot start %q: not found in PATH; install it, or write its full path", name)
}

// Readable returns the files and folders that the permissions of the tool that uses this one let it read, nil if they
// are not enforced.
func (a *Frame) Readable() []string {
	if a.outer == nil {
		return nil
	}
	read, _, _ := a.outer.Files()
	return append([]string{}, read...)
}
