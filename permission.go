package flowrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// Permission is one of a tool's required-permissions (S1-212), as a call needs it.
type Permission struct {
	Written string `json:"written"` // in the definition: filesystem:write:{DIR}
	// Resolved is what is approved (S1-214): with the call's parameters, and of a path
	// where it really leads, past . and .. and symbolic links. What is not known before
	// the run stays as it was written.
	Resolved string `json:"resolved"`
}

// permission is a compiled entry of required-permissions.
type permission struct {
	written string
	text    *expr.Template
}

// permissionKinds are the first two words a permission may have.
var permissionKinds = map[string][]string{
	"filesystem": {"read", "write", "execute"},
	"network":    {"external", "local"},
}

const permissionForms = "permissions are written filesystem:read:PATH, filesystem:write:PATH, filesystem:execute:PROGRAM, " +
	"network:external:HOST, network:local:HOST, tool:NAME or environment:NAME"

// permissions compiles required-permissions. One whose kind nobody knows is shown and
// asked for as it stands.
func (c *compiler) permissions(p *compiledPlan, n names) {
	list := p.Definition.Security.RequiredPermissions
	for i := range list {
		at := &list[i]
		path := fmt.Sprintf("security.required-permissions[%d]", i)
		if wrong := badPermission(at.S); wrong != "" {
			c.report(tool.Diagnostic{Code: "unknown-permission", Severity: tool.Warning, Pos: at.Pos, Len: len([]rune(at.S)), Path: path,
				Message: wrong, Hint: permissionForms})
		}
		if t := c.wide(at, path, expr.Plain, n); t != nil {
			p.needed = append(p.needed, permission{at.S, t})
		}
	}
}

// badPermission is what is wrong with the form of a permission, "" for nothing.
func badPermission(s string) string {
	kind, rest, _ := strings.Cut(s, ":")
	verb, target, _ := strings.Cut(rest, ":")
	if strings.HasPrefix(kind, "{") || strings.HasPrefix(verb, "{") {
		return ""
	}
	verbs, known := permissionKinds[kind]
	switch {
	case kind+":" == mayCall && rest != "":
		if _, err := path.Match(rest, ""); err != nil {
			return fmt.Sprintf("the permission %q has a bracket that is not closed", s)
		}
		return ""
	case mayEnvironment == kind+":":
		if !variableName().MatchString(rest) {
			return fmt.Sprintf("the permission %q names no environment variable", s)
		}
		return ""
	case !known:
		return fmt.Sprintf("the permission %q is of a kind that flowrun does not know", s)
	case rest == "" && kind == "network":
		return ""
	case len(tool.Near(verb, verbs)) > 0 || !strings.Contains(" "+strings.Join(verbs, " ")+" ", " "+verb+" "):
		return fmt.Sprintf("the permission %q has the verb %q; %s has %s", s, verb, kind, strings.Join(verbs, ", "))
	case target == "" && kind == "filesystem":
		return fmt.Sprintf("the permission %q names no path", s)
	}
	return ""
}

// permissionsOf are what a call of the tool needs; a is nil where its parameters are
// not known.
func (p *compiledPlan) permissionsOf(a *callArgs) []Permission {
	var list []Permission
	for _, n := range p.needed {
		one := Permission{n.written, n.written}
		if a != nil {
			text, err := n.text.Text(scope{args: a})
			switch {
			case errors.Is(err, expr.ErrUnknown):
				text = n.text.Display(scope{args: a}, nil)
			case err != nil:
				text = n.written
			default:
				text = a.world.lead(text)
			}
			one.Resolved = a.session.Mask().String(text)
		}
		list = append(list, one)
	}
	return list
}

// lead is a permission with its path where that really leads; of a program without a
// folder, where PATH has it.
func (w *callWorld) lead(permission string) string {
	parts := strings.SplitN(permission, ":", 3)
	if len(parts) < 3 || parts[0] != "filesystem" || parts[2] == "" {
		return permission
	}
	path := parts[2]
	if parts[1] == "execute" && isProgramName(path) {
		if file, err := w.program(path); err == nil {
			return mayExecute + file
		}
		return permission // nothing can be started by it
	}
	switch {
	case path == "~", strings.HasPrefix(path, "~/"):
		path = w.Home + path[1:]
	case !filepath.IsAbs(path):
		path = w.Workspace + string(filepath.Separator) + path
	}
	return strings.Join([]string{parts[0], parts[1], realPath(path)}, ":")
}

// isProgramName says whether a program is written without a folder: then it is one of
// PATH, never a file of the workspace.
func isProgramName(s string) bool {
	return !strings.ContainsAny(s, `/\`) && s != "~" && s != "." && s != ".." && filepath.VolumeName(s) == ""
}

// program is the file of a program along flowrun's own PATH. Folders there that are
// relative count from wherever a step runs, and are passed over.
func (w *callWorld) program(name string) (string, error) {
	path := w.vars["PATH"]
	for key, value := range w.vars {
		if runtime.GOOS == "windows" && strings.EqualFold(key, "PATH") {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if file, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("cannot start %q: not found in PATH %q; install it, or write its full path", name, path)
}

// mostLinks bounds the symbolic links of one path, as kernels do.
const mostLinks = 40

// realPath is where an absolute path leads. The parts are taken one by one, so that ..
// counts from where a link leads, as it does for the system; what does not exist yet is
// taken as it is written.
func realPath(path string) string {
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
		if err != nil || links == mostLinks { // no link, or nothing at all
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

// UsedTool is a tool that a plan runs.
type UsedTool struct {
	Path       string // of the first step that uses it; "" for the plan's own
	Definition *tool.Definition
}

// Tools are the plan's tool and those it uses inside, each once, the outer first.
func (p *compiledPlan) Tools() []UsedTool {
	var list []UsedTool
	seen := map[*tool.Definition]bool{}
	visited := map[*compiledPlan]bool{}
	var visit func(p *compiledPlan, path string)
	visit = func(p *compiledPlan, path string) {
		if visited[p] {
			return
		}
		visited[p] = true
		if !p.group && !seen[p.Definition] {
			seen[p.Definition] = true
			list = append(list, UsedTool{strings.TrimSuffix(path, "/"), p.Definition})
		}
		for _, s := range p.steps {
			if s.nested != nil {
				visit(s.nested, path+s.def.Name+"/")
			}
		}
	}
	visit(p, "")
	return list
}

// Tools are those of the plan that the run goes on with.
func (g *Again) Tools() []UsedTool { return g.plan.Tools() }

// Preview is what taking the run up runs, the steps that stand included. Errors are
// those of Plan.Preview.
func (g *Again) Preview() (*Preview, error) {
	a := *g.args // which the run itself is to begin
	return foreseen(context.Background(), g.plan, &a)
}

// queues says whether a run of the plan has needs at its start.
func (p *compiledPlan) queues() bool {
	return p.Definition.MaxActiveRuns > 0 || slices.ContainsFunc(p.Tools(), func(t UsedTool) bool { return len(t.Definition.Locks) > 0 })
}
