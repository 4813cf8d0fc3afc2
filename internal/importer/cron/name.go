package cron

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/importer"
)

// wrappers are programs that run the command in their arguments: their options that have a value, and how many arguments
// come before the command.
var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"sudo": {"ugpChrtT", 0}, "doas": {"uC", 0}, "env": {"uCS", 0}, "nice": {"n", 0}, "ionice": {"cn", 0}, "nohup": {}, "setsid": {}, "chronic": {}, "cronic": {},
		"stdbuf": {"ioe", 0}, "timeout": {"ks", 1}, "flock": {"wEc", 1}, "envdir": {"", 1}, "chrt": {"", 1}, "exec": {"a", 0}, "command": {}, "time": {"fo", 0},
		"if": {}, "then": {}, "else": {}, "elif": {}, "do": {}, "while": {}, "until": {}, "!": {}, "{": {},
	}
})

type wrapper struct {
	values string
	before int
}

// prepare are commands that only prepare or check something, and words that end a statement: the next command names the tool.
const prepare = "cd pushd popd export set unset umask ulimit test [ [[ : true false sleep wait trap echo printf mkdir source . shopt fi done esac } for case exit return read local"

// groups are programs that do something else for each first argument.
const groups = "make gmake npm yarn pnpm npx docker docker-compose podman git go cargo just task rake composer bundle systemctl kubectl artisan manage console rails wp drush " +
	"flowrun restic borg rclone certbot aws gcloud crontab service arkmanager"

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9:_-]*$`) })

// utilities are programs that say little about what a command is for: a comment above the line says more.
const utilities = "awk cat cp curl cut date find grep head ls ln mail mv rm rsync sed sort tail tee touch tr wc wget xargs"

// nameOf returns the name of the tool for a line: the script or program that its command runs; or, if that says little, the
// comment above the line; or the number of the line.
func nameOf(script, comment string, line int) string {
	name := programName(script)
	if name != "" && !slices.Contains(strings.Fields(utilities), name) {
		return name
	}
	words := strings.Fields(strings.ToLower(comment))
	if said := importer.Name(strings.Join(words[:min(len(words), maxWords)], " ")); said != "step" {
		return said
	}
	return cmp.Or(name, fmt.Sprintf("cron-%d", line))
}

// maxWords is how many words of a comment become a name.
const maxWords = 4

// programName returns the name of the script or program that a command is for: the first one that is more than a
// preparation, and a utility only if there is nothing else; "" if there is none.
func programName(script string) (found string) {
	for _, words := range commands(script) {
		name, good := commandName(words)
		name = importer.Name(name)
		switch {
		case name == "step" || !good: // "step": it has no letters
		case !slices.Contains(strings.Fields(utilities), name):
			return name
		case found == "":
			found = name
		}
	}
	return found
}

// commandName returns the name of what a command runs, and whether that is more than a preparation.
func commandName(words []string) (name string, good bool) {
	for len(words) > 0 {
		first := path.Base(words[0])
		variable, _, assigned := strings.Cut(words[0], "=")
		wrapper, wraps := wrappers()[first]
		switch args := words[1:]; {
		case assigned && importer.ValidVariable(variable):
			words = args
		case first == "su":
			script, _ := option(args, "c", "sgwC")
			name = programName(script)
			return name, name != ""
		case slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "ksh"}, first):
			script, rest := option(args, "c", "oO")
			if script != "" {
				name = programName(script)
				return name, name != ""
			}
			if len(rest) == 0 {
				return first, false
			}
			return program(rest), true
		case interpreter(first):
			if module, _ := option(args, "m", "WX"); module != "" && strings.HasPrefix(first, "python") {
				return module, true
			}
			if _, rest := option(args, "", "cemrWX"); len(rest) > 0 {
				return program(rest), true
			}
			return first, true
		case wraps:
			script, rest := option(args, "c", wrapper.values)
			if script != "" && first == "flock" {
				name = programName(script)
				return name, name != ""
			}
			words = rest[min(wrapper.before, len(rest)):]
		case first == "source" || first == ".":
			return first, false
		case slices.Contains(strings.Fields(prepare), first):
			return first, false
		default:
			return program(words), true
		}
	}
	return "", false
}

func interpreter(name string) bool {
	name = strings.TrimRight(name, "0123456789.")
	return slices.Contains([]string{"python", "perl", "php", "ruby", "node", "Rscript"}, name)
}

// option returns the value of an option of one letter, and the words after all options. values are the letters of the
// options that have a value.
func option(words []string, letter, values string) (value string, rest []string) {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		w := words[0]
		words = words[1:]
		if w == "--" {
			break
		}
		last := w[len(w)-1:]
		takes := w != "-" && !strings.HasPrefix(w, "--") && strings.Contains(values+letter, last) && len(words) > 0
		if !takes {
			continue
		}
		if last == letter {
			return words[0], nil
		}
		words = words[1:]
	}
	// su takes the user before its options.
	if letter != "" && len(words) > 2 && strings.HasPrefix(words[1], "-") {
		if words[1] == "-"+letter {
			return words[2], words
		}
	}
	return "", words
}

// program returns the name of a program without its folder and extension, with its first argument if that says what it
// does.
func program(words []string) string {
	name := path.Base(words[0])
	if ext := path.Ext(name); slices.Contains([]string{".sh", ".bash", ".py", ".pl", ".php", ".rb", ".js"}, ext) {
		name = strings.TrimSuffix(name, ext)
	}
	args := words[1:]
	switch {
	case name == "run-parts" && len(args) > 0:
		return name + "-" + path.Base(args[len(args)-1])
	case slices.Contains(strings.Fields(groups), name):
		for _, a := range args {
			if plainWord().MatchString(a) {
				return name + "-" + a
			}
		}
	}
	return name
}

// commands splits a script into simple commands and their words, without quotes and redirections. It knows enough of the
// shell to find a name.
func commands(script string) [][]string {
	var list [][]string
	var words []string
	var b strings.Builder
	inWord, drop := false, false // drop the next word: it belongs to a redirection
	word := func() {
		if inWord && !drop {
			words = append(words, b.String())
		}
		if inWord {
			drop = false
		}
		inWord = false
		b.Reset()
	}
	end := func() {
		word()
		if len(words) > 0 {
			list = append(list, words)
		}
		words, drop = nil, false
	}
	for i := 0; i < len(script); i++ {
		c := script[i]
		next := byte(0)
		if i+1 < len(script) {
			next = script[i+1]
		}
		switch {
		case c == ' ' || c == '\t':
			word()
		case c == '>' || c == '<' || c == '&' && next == '>':
			if strings.Trim(b.String(), "0123456789") == "" { // 2>file
				inWord = false
				b.Reset()
			}
			word()
			for i+1 < len(script) && strings.IndexByte("<>&|", script[i+1]) >= 0 {
				i++
			}
			drop = true
		case strings.IndexByte("\n;&|()", c) >= 0:
			end()
		case c == '#' && !inWord:
			end()
			for i+1 < len(script) && script[i+1] != '\n' {
				i++
			}
		default:
			inWord = true
			n := quoted(script[i:])
			text := script[i : i+n]
			if c == '\'' || c == '"' || c == '\\' {
				text = strings.Trim(text, string(c))
			}
			b.WriteString(text)
			i += n - 1
		}
	}
	end()
	return list
}

// quoted returns how many bytes at the beginning of s belong together: a quoted text, $(...), ${...}, or one byte.
func quoted(s string) int {
	switch {
	case s[0] == '\\' && len(s) > 1:
		return 2
	case s[0] == '\'' || s[0] == '`':
		if end := strings.IndexByte(s[1:], s[0]); end >= 0 {
			return end + 2
		}
		return len(s)
	case s[0] == '"':
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
		return len(s)
	case strings.HasPrefix(s, "$(") || strings.HasPrefix(s, "${"):
		depth := 0
		for i := 1; i < len(s); i++ {
			switch s[i] {
			case '(', '{':
				depth++
			case ')', '}':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
		return len(s)
	}
	return 1
}
