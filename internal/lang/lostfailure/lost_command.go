package lostfailure

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// plainCommand is a program with its words, as far as they are plain text.
type plainCommand struct {
	name  string
	words []string
	stdin bool // a here-document or a file is its input
}

// commandOf returns the command of a statement, with an empty name if it is none. Words that the shell replaces are as
// they are written.
func (w *lossWalker) commandOf(s *syntax.Stmt) plainCommand {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return plainCommand{}
	}
	var c plainCommand
	for _, word := range call.Args {
		text := word.Lit()
		if text == "" {
			text = w.script[word.Pos().Offset():word.End().Offset()]
		}
		c.words = append(c.words, text)
	}
	for len(c.words) > 1 && slices.Contains([]string{"sudo", "command", "exec", "nice", "nohup", "env", "builtin"}, c.words[0]) && !strings.HasPrefix(c.words[1], "-") && !strings.Contains(c.words[1], "=") {
		c.words = c.words[1:]
	}
	if len(call.Args) == 1 && c.words[0] == "exec" { // redirections of the shell
		return plainCommand{}
	}
	c.name = path.Base(c.words[0])
	c.stdin = slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Hdoc != nil || r.Op == syntax.WordHdoc || r.Op == syntax.RdrIn })
	return c
}

// canFail reports whether the command can fail in a way that matters. filters means that it reads what another command
// writes.
func (c plainCommand) canFail(filters bool) bool {
	files := slices.ContainsFunc(c.words[min(1, len(c.words)):], func(w string) bool { return !strings.HasPrefix(w, "-") })
	switch c.name {
	case "": // a compound command
		return false
	case "echo", "printf", ":", "true", "false", "yes", "seq", "test", "[", "exit", "return", "break", "continue", "shift", "set", "shopt", "unset", "alias", "trap", "umask", "hash",
		"export", "local", "declare", "readonly", "typeset", "date", "pwd", "sleep", "whoami", "hostname", "uname", "id", "env", "printenv", "basename", "dirname", "mktemp", "nproc", "ls", "df", "du", "find",
		"type", "which", "history", "ps", "jobs", "wait", "clear", "tput", "getopts", "let":
		return false
	case "command":
		return !slices.Contains(c.words, "-v") && !slices.Contains(c.words, "-V")
	case "cat":
		return files && !c.stdin
	case "grep", "egrep", "fgrep", "rg", "diff", "cmp", "pgrep": // their exit code is an answer
		return false
	}
	return !c.isFilter() || !filters && !c.stdin
}

// isFilter reports whether the command hardly fails if it reads what another command writes.
func (c plainCommand) isFilter() bool {
	switch c.name {
	case "sort", "uniq", "wc", "cut", "tr", "rev", "tac", "nl", "fold", "fmt", "column", "paste", "tee", "head", "tail", "sed", "awk", "gawk", "base64", "gzip", "bzip2", "xz", "zstd":
		return true
	}
	return false
}

// answers reports whether the exit code of the command says something other than whether it worked, or whether it is
// usual that it has nothing to do.
func (c plainCommand) answers() bool {
	switch c.name {
	case "read", "kill", "pkill", "killall", "expr", "stty", "renice", "mkdir", "touch":
		return true
	case "rm":
		return len(c.words) > 1 && strings.HasPrefix(c.words[1], "-") && strings.Contains(c.words[1], "f")
	}
	return false
}

// needsInput reports whether the last command of a pipeline fails if the commands before it wrote nothing.
func (c plainCommand) needsInput() bool {
	has := func(options string) bool {
		return slices.ContainsFunc(c.words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, options)
		})
	}
	switch c.name {
	case "grep", "egrep", "fgrep", "rg":
		return !has("vcL")
	case "tar":
		return len(c.words) > 1 && !strings.Contains(c.words[1], "c")
	case "gunzip", "unxz", "unzstd", "bunzip2", "zcat":
		return true
	case "gzip", "xz", "zstd", "bzip2", "base64":
		return has("d")
	case "jq":
		return has("e")
	case "sha256sum", "sha1sum", "md5sum":
		return has("c")
	}
	return false
}

// stopsReading reports whether the command may end before it has read its whole input.
func (c plainCommand) stopsReading() bool {
	switch c.name {
	case "head", "less", "more":
		return true
	case "grep", "egrep", "fgrep", "rg":
		return slices.ContainsFunc(c.words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, "qm") || w == "--quiet"
		})
	case "sed", "awk", "gawk":
		return slices.ContainsFunc(c.words[1:], func(w string) bool { return strings.Contains(w, "exit") || c.name == "sed" && strings.Contains(w, "q") })
	}
	return false
}

// isTest reports whether a command is a question, so that its failure is an answer.
func (w *lossWalker) isTest(s *syntax.Stmt) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		command := w.commandOf(s)
		return !command.canFail(false) || command.answers()
	case *syntax.BinaryCmd:
		return c.Op != syntax.Pipe && c.Op != syntax.PipeAll && w.isTest(c.X) && w.isTest(c.Y)
	}
	return true // [[ ... ]], (( ... ))
}
