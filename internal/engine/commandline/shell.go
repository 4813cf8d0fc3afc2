package commandline

import (
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// How large values are passed. The kernel allows 128 KiB for one string and, usually, 2 MiB for
// arguments and environment together.
const (
	maxInlineScript = 100 << 10 // a longer script is written to a file
	maxVar          = 96 << 10  // a longer value is written to a file that the script reads
	maxVars         = 512 << 10 // if values are longer than this together, all of them are
)

// Launch is how a command starts: argv, variables that override the environment, and files to
// remove after it has ended.
type Launch struct {
	Argv  []string
	Env   []string
	Files []string
}

// ShellOptions returns the options of a shell. They are arguments and not part of the script, so
// line numbers in messages stay those of the script.
func ShellOptions(shell string, strict bool) []string {
	if !strict {
		return nil
	}
	switch baseName(shell) {
	case "sh", "dash", "ash":
		return []string{"-eu"}
	}
	return []string{"-euo", "pipefail"}
}

// baseName returns the name of a shell without directory and extension.
func baseName(shell string) string {
	return strings.TrimSuffix(filepath.Base(shell), ".exe")
}

// Sh returns how to start a script for a shell of the sh family. Values are passed as variables: small
// ones in the environment; large ones, or all with bySource, in a file that the script sources before its
// first command.
func (i *Interpreter) Sh(script expr.Script, bySource bool) (l Launch, err error) {
	text := script.Text
	var large strings.Builder
	bySource = bySource || totalSize(script.Vars) > maxVars
	for _, v := range script.Vars {
		if bySource || len(v.Value) > maxVar {
			large.WriteString(v.Name + "=" + shellword.Sh(v.Value) + "\n")
		} else {
			l.Env = append(l.Env, v.Name+"="+v.Value)
		}
	}
	if large.Len() > 0 {
		path, err := i.File("values-*", large.String())
		if err != nil {
			return l, err
		}
		l.Files = append(l.Files, path)
		text = ". " + shellword.Sh(path) + "; " + text
	}
	l.Argv = append([]string{i.Shell}, ShellOptions(i.Shell, i.Strict)...)
	if len(text) <= maxInlineScript {
		l.Argv = append(l.Argv, "-c", text)
		return l, nil
	}
	path, err := i.File("script-*", text)
	if err != nil {
		return l, err
	}
	l.Files = append(l.Files, path)
	l.Argv = append(l.Argv, path)
	return l, nil
}

func totalSize(vars []expr.Var) (n int) {
	for _, v := range vars {
		n += len(v.Value)
	}
	return n
}

// OpensOwnStreams reports whether a command may open its own streams by name. That would truncate a file,
// so such a command prints into a pipe.
func OpensOwnStreams(argv []string) bool {
	for _, a := range argv {
		if strings.Contains(a, "/dev/std") || strings.Contains(a, "/dev/fd/") || strings.Contains(a, "/self/fd/") {
			return true
		}
	}
	return false
}
