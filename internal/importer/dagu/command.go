package dagu

import (
	"path"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// command reads the key with the command or the script of a step.
func command(s *importer.Step, n stepNode, p importer.Pair) (why string) {
	switch {
	case p.IsMap():
		return "its " + p.Key + " is a mapping"
	case p.IsList():
		return "its " + p.Key + " is a list: one command and its arguments, or several commands, depending on the version of Dagu"
	case p.Key == "run" && importer.Plain(p.Text()) && !strings.HasPrefix(p.Text(), "/") && !strings.HasPrefix(p.Text(), "."):
		return "its run is a DAG or a command, depending on the version of Dagu"
	case p.Key != "script" || !n.Get("command").Exists(): // otherwise the command is the interpreter of the script
		s.Script = p.Text()
	}
	return ""
}

// script completes the command of a step with its arguments, and finds the program that runs it.
func (r *reader) script(s *importer.Step, n stepNode) (why string) {
	script, interpreter := n.Get("script"), n.Get("command")
	both := script.Exists() && interpreter.Exists()
	if both {
		if s.Shell = shellOf(interpreter); s.Shell == "" {
			return "flowrun has no steps for " + short(strings.Join(interpreter.Texts(), " "))
		}
		s.Script = script.Text()
	}
	for _, a := range n.Get("args").Texts() {
		s.Script += " " + a
	}
	if strings.TrimSpace(s.Script) == "" {
		return "it has no command"
	}
	if both || n.Get("shell").Exists() {
		return ""
	}
	return r.defaultShell(s)
}

// defaultShell makes a script that has no shell of its own do what Dagu does: it runs in the program of its #! line, or in
// the shell of the DAG with -e.
func (r *reader) defaultShell(s *importer.Step) (why string) {
	if line, rest, _ := strings.Cut(s.Script, "\n"); strings.HasPrefix(line, "#!") {
		words := strings.Fields(strings.TrimPrefix(line[2:], " "))
		if len(words) > 1 && path.Base(words[0]) == "env" {
			words = words[1:]
		}
		shell := ""
		if len(words) > 0 {
			shell = path.Base(words[0])
		}
		known := map[string]string{"sh": "sh", "bash": "bash", "python": "python", "python3": "python"}[shell]
		switch {
		case known == "" || len(words) > 2 || len(words) == 2 && (words[1] != "-e" || known == "python"):
			return "flowrun has no steps for " + short(line)
		case len(words) == 2:
			rest = "set -e\n" + rest
		}
		s.Shell, s.Script = known, rest
		return ""
	}
	if !r.ownShell && !portable(s.Script) {
		r.unsure[s.Name] = true
	}
	// A single command needs no set -e.
	if s.Shell != "python" && strings.ContainsAny(strings.TrimSpace(s.Script), "\n;&|()`{") {
		s.Script = "set -e\n" + s.Script
	}
	return ""
}

// builtins are commands that some shells do not have, or that do something else in each.
const builtins = "source . test time type local declare typeset let pushd popd shopt set read printf kill ulimit alias function select export exec"

// portable reports whether every shell does the same with a script: it starts one program with plain words.
func portable(script string) bool {
	words := strings.Fields(script)
	if len(words) == 0 || strings.Contains(strings.TrimSpace(script), "\n") || slices.Contains(strings.Fields(builtins), words[0]) {
		return false
	}
	options := len(words) > 1 && strings.HasPrefix(words[1], "-")
	return slices.IndexFunc(words, func(w string) bool { return !importer.Plain(w) }) < 0 && (words[0] != "echo" || !options)
}

// reasons are how a step differs.
func (r *reader) reasons(s *importer.Step) []string {
	if r.unsure[s.Name] {
		return []string{"it has no shell: flowrun runs it in sh"}
	}
	return nil
}

// finish gives a step the outputs of others that its command names, and checks for what only Dagu replaces.
func (r *reader) finish(s *importer.Step, outputs map[string]string) (why string) {
	if _, after, ok := strings.Cut(s.Script, "${{"); ok {
		inner, _, _ := strings.Cut(after, "}}")
		return "Dagu replaces ${{" + short(inner) + "}}, flowrun does not"
	}
	if i := strings.Index(s.Script, "${"); i >= 0 {
		for _, m := range strings.Split(s.Script, "${")[1:] {
			name, _, _ := strings.Cut(m, "}")
			if strings.Contains(name, ".") && importer.ValidVariable(name[:strings.Index(name, ".")]) {
				return "Dagu replaces ${" + short(name) + "}, flowrun does not"
			}
		}
	}
	if strings.Contains(s.Script, "$DAG_") || strings.Contains(s.Script, "${DAG_") || strings.Contains(s.Script, "DAGU_") {
		return "it reads variables that only Dagu sets"
	}
	for n := '1'; n <= '9'; n++ {
		if strings.Contains(s.Script, "$"+string(n)) && len(r.tool.Parameters) > 0 && !strings.Contains(s.Script, "awk") {
			return "flowrun has no positional parameters ($" + string(n) + ")"
		}
	}
	for name, from := range outputs {
		if from != s.Name && importer.HasWord(s.Script, name) {
			s.Environment = append(s.Environment, importer.Variable{Name: name, Value: importer.Ref(from + ".output")})
		}
	}
	slices.SortStableFunc(s.Environment, func(a, b importer.Variable) int { return strings.Compare(a.Name, b.Name) })
	return ""
}
