package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// need is what steps do that their permissions must allow when they are enforced, as those of models' calls are.
type need struct {
	granted string // the beginning of a permission that allows it
	add     string
	does    string // the step, in a note
	cannot  string // without the permission
	used    func(*tool.Step) string
}

var (
	networkNeed = need{"network", "network:external:HOST", "runs", "reach the network", networkUse}
	writeNeed   = need{"filesystem:write:", "filesystem:write:PATH", "writes files with", "write files", writtenFile}
)

// unmet returns the first step that needs what no permission of the tool allows, and what it uses for it; nil for none.
func (n need) unmet(def *tool.Definition, steps []*tool.Step) (s *tool.Step, what string) {
	if slices.ContainsFunc(def.Security.RequiredPermissions, func(p tool.Text) bool { return strings.HasPrefix(p.S, n.granted) }) {
		return nil, ""
	}
	for _, s := range steps {
		if what := n.used(s); what != "" {
			return s, what
		}
	}
	return nil, ""
}

// note notes the first step that needs what no permission of the tool allows.
func (n need) note(r *checker) {
	if s, what := n.unmet(r.def, r.steps); s != nil {
		kind, _, _ := strings.Cut(strings.TrimPrefix(n.add, "filesystem:"), ":")
		r.stepNote(s, fmt.Sprintf("%s %s %s, but the tool declares no %s permission", r.subject(s), n.does, what, kind),
			fmt.Sprintf("add security: {required-permissions: [%q]}", n.add))
	}
}

func networkPermission(r *checker) { networkNeed.note(r) }

func writePermission(r *checker) { writeNeed.note(r) }

// ForModels says in one line what a model's call of a tool could not do, because its permissions are enforced then, and
// what allows it; "" for nothing, as far as the definition itself shows.
func ForModels(def *tool.Definition) string {
	if def.Alias {
		return ""
	}
	var list []string
	for _, n := range []need{networkNeed, writeNeed} {
		if s, _ := n.unmet(def, allSteps(def)); s != nil {
			list = append(list, fmt.Sprintf("cannot %s (%q in security.required-permissions allows it)", n.cannot, n.add))
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "a model's call of " + def.Name + " " + strings.Join(list, " and ")
}

// networkUse returns what a step reaches the network with, "" for nothing.
func networkUse(s *tool.Step) string {
	switch b := s.Body.(type) {
	case *tool.HTTP:
		return "http"
	case *tool.SQL:
		if !strings.HasPrefix(b.URL.S, "sqlite:") {
			return "sql"
		}
	}
	return programIn(s, networkPrograms())
}

// changing matches a command that changes files, and into a file with the shell. A target that begins with a variable may
// be in the temporary folder.
var changing struct {
	sync.Once
	*regexp.Regexp
}

// writtenFile returns how a step writes a file, "" if it does not for all that its command shows.
func writtenFile(s *tool.Step) string {
	if !forUnixShell(s) {
		return ""
	}
	changing.Do(func() {
		changing.Regexp = regexp.MustCompile(`(?m)(?:^|[;&|(]|\bthen|\bdo)\s*(mkdir|touch|rm|rmdir|mv|cp|tee|ln)\s+(?:-\S+\s+)*["']?([^\s"'$]\S*)|(?:^|\s)[12&]?(>>?)\s*["']?([^\s"'$&>|;()]*[./{][^\s"'$&>|;()]*)`)
	})
	for _, text := range commands(s) {
		for _, m := range changing.FindAllStringSubmatch(uncommented(text), -1) {
			switch {
			case m[1] != "" && !strings.HasPrefix(m[2], "{TEMP}") && !strings.HasPrefix(m[2], "/dev/"):
				return m[1]
			case strings.HasPrefix(m[4], "{") && strings.Contains(m[4][:strings.IndexByte(m[4]+"}", '}')], "."): // a comparison with a result
			case m[3] != "" && !strings.HasPrefix(m[4], "{TEMP}") && !strings.HasPrefix(m[4], "/dev/"):
				return m[3] + " " + m[4]
			}
		}
	}
	return ""
}
