package tools

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// editSession is a text that is being edited, for edit and add --editor.
type editSession struct {
	name      string // of the tool, for names of files
	extension string // of these files
	text      []byte // current text
	editor    []string
	// check returns what is wrong with a text, and the path to report it for.
	check func(text []byte) (tool.Diagnostics, string)
}

// edit opens the text in an editor until it is valid, unchanged, or the user gives up. An invalid
// text is saved in the state directory, and the error is exit code 3.
func edit(env *ui.Env, e *editSession) error {
	original := e.text
	for {
		text, err := runEditor(env, e.editor, e.name+e.extension, e.text)
		if err != nil {
			return err
		}
		e.text = text
		if bytes.Equal(text, original) {
			return nil
		}
		found, path := e.check(text)
		renderText(env, found, path, text)
		if found.Err() == nil {
			return nil
		}
		if env.HasPerson() && env.AskYesNo("edit it again?", true) {
			continue
		}
		saveRejected(env, e)
		return ui.CodeError(outcome.ExitInvalid)
	}
}

// saveRejected saves an edited text that could not be used.
func saveRejected(env *ui.Env, e *editSession) {
	dir, err := ui.StateDir()
	if err == nil {
		file := filepath.Join(dir, e.name+e.extension+".rej")
		if err = atomicfile.Save(file, e.text); err == nil {
			env.Notef("nothing was changed; your text is in %s", file)
			return
		}
	}
	// Never lose what the user typed: print it if it cannot be saved.
	env.Notef("nothing was changed, and your text cannot be saved: %v; this is your text:", err)
	env.Stderr.Write(e.text)
}

// runEditor returns text after editing it in an editor. If the editor fails, nothing changes.
func runEditor(env *ui.Env, editor []string, name string, text []byte) ([]byte, error) {
	dir, err := os.MkdirTemp("", "flowrun-edit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(editor[0], append(editor[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
	if d, ok := env.Stdout.(*ui.CheckedWriter); ok {
		cmd.Stdout = d.To // an editor needs the terminal itself
	}
	interrupt := make(chan os.Signal, 1) // Ctrl-C is for the editor
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the editor %s failed (%w); nothing was changed", editor[0], err)
	}
	text, err = os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the editor %s removed the file; nothing was changed", editor[0])
	}
	return text, nil
}

// editorWords returns the command that starts an editor: the given one, $VISUAL, $EDITOR, or an
// editor that most machines have and that needs a terminal.
func editorWords(env *ui.Env, c *cobra.Command, given string) ([]string, error) {
	line := cmp.Or(given, os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	words, err := splitWords(line)
	if err != nil {
		return nil, ui.Usagef(c, "cannot parse the editor command %q: %w", line, err)
	}
	if len(words) > 0 {
		return addWaitFlag(words), nil
	}
	if !env.HasPerson() {
		return nil, ui.Usagef(c, "no terminal is available for an editor; set the variable VISUAL or EDITOR to a program that does not need a terminal")
	}
	candidates := []string{"sensible-editor", "nano", "vim", "vi"}
	if runtime.GOOS == "windows" {
		candidates = []string{"notepad"}
	}
	for _, name := range candidates {
		if _, err := exec.LookPath(name); err == nil {
			return []string{name}, nil
		}
	}
	return nil, ui.Usagef(c, "no editor found; set the variable VISUAL or EDITOR to the command of one")
}

// addWaitFlag adds the flag that makes a graphical editor wait until the file is closed. Without it,
// flowrun would read the file before it is edited.
func addWaitFlag(words []string) []string {
	base := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	if slices.Contains([]string{"code", "code-insiders", "codium", "cursor", "windsurf", "zed", "subl"}, base) &&
		!slices.Contains(words, "--wait") && !slices.Contains(words, "-w") {
		words = append(words, "--wait")
	}
	return words
}

// splitWords splits a line into words like a shell, without expansions. Quotes and backslashes keep
// spaces within a word; on Windows a backslash is only a path separator.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	var quote rune
	started, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'' && runtime.GOOS != "windows":
			started, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			started, quote = true, r
		case r == ' ' || r == '\t' || r == '\n':
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if escaped {
		return nil, errors.New("it ends with a backslash")
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}
