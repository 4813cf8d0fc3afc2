package completion_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/flowrun/flowrun/internal/cli" // the program consists of it
	_ "github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/programtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// untrusted is a project whose values shells read in their own ways; some of them are attacks.
const untrusted = `name: pick
description: Pick a colour
parameters:
  COLOR: {type: string, description: c, validation: {enum: [%s]}}
  OTHER: {type: string, description: o, default: ""}
steps:
  - name: got
    run: sh -c 'printf "%%s\nend\n" "$1" >>got' sh {COLOR}{OTHER}
  - name: loop
    for-each: {items: [%[1]s], key: "{item}"}
    run: printf %%s {item}
  - name: each
    matrix: {A: [%[1]s], B: [x]}
    run: printf %%s {item.A}
`

// TestProgram completes values and steps of a project that nobody trusted, at a terminal and with flowrun itself. What
// arrives at the tool, or which step is printed, shows how the shell read what was completed.
func TestProgram(t *testing.T) {
	sizetest.Need(t, sizetest.Gate, "builds flowrun and starts it hundreds of times")
	values := []string{
		"plain", "two words", "colon:on", "semi;touch ran", `back\slash`, "star*x", "to$HOME", "quo'te", `dq"x"`, "#hash", "eq=b", "mark?",
		"[brack]", "{a,b}", "(par)", "~til", "$(touch ran)", "red$(touch ran)",
	}
	var quoted []string
	for _, value := range values {
		quoted = append(quoted, strconv.Quote(value))
	}
	for shell := range starts {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := open(t, shell)
			if err := os.MkdirAll(filepath.Join(s.dir, ".flowrun/tools"), 0o700); err != nil {
				t.Fatal(err)
			}
			s.file(".flowrun/tools/pick.yaml", fmt.Sprintf(untrusted, strings.Join(quoted, ", ")))
			os.Remove(filepath.Join(s.dir, "flowrun"))
			if _, err := programtest.Build(s.dir); err != nil {
				t.Fatal(err)
			}
			s.enter("flowrun run -q pick COLOR=pl\tO\t")
			for _, value := range values {
				inKey := strings.NewReplacer("[", "(", "]", ")").Replace(value)
				s.arrives("flowrun logs latest", "loop[", inKey, " >got; printf '\\nend\\n' >>got", value)
				s.arrives("flowrun logs latest", "each[", inKey, " >got; printf '\\nend\\n' >>got", value)
			}
			for _, value := range values { // after a value, the next parameter
				s.arrives("flowrun run -q --until got pick", "COLOR=", value, "O\t.", value+".")
			}
			if _, err := os.Stat(filepath.Join(s.dir, "ran")); err == nil {
				t.Error("a tab ran text of the project")
			}
		})
	}
}

// arrives types a command and the first half of a word that is before and value: not quoted, in single and in double
// quotes. After a tab come the rest of the line and Enter.
func (s *terminal) arrives(command, before, value, rest, want string) {
	s.Helper()
	letters := []rune(value)
	part := string(letters[:max(1, len(letters)/2)])
	bare := strings.ReplaceAll(before, "[", `\[`) // with an unquoted [, zsh completes nothing, and fish no word with a $
	for _, typed := range []string{bare + escaped(part), single(s.shell, before+part), double(s.shell, before+part)} {
		line := command + " " + typed + "\t" + rest
		if words := s.enter(line); words[0] != want {
			s.Errorf("%s: %s gives %q, want %q", s.shell, strings.ReplaceAll(line, "\t", "<TAB>"), words, want)
		}
	}
}
