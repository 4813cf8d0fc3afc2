package tools

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/addition"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// TestPages compares the help pages of tool commands with the flags of the commands.
func TestPages(t *testing.T) {
	env := &ui.Env{}
	for _, c := range toolCommand(env).Commands() {
		t.Run(c.Name(), func(t *testing.T) {
			var out bytes.Buffer
			c.SetOut(&out)
			if err := c.Help(); err != nil {
				t.Fatal(err)
			}
			var shown, have []string
			options, _, _ := strings.Cut(out.String(), "\nEXAMPLES\n")
			for line := range strings.Lines(options) {
				if l := strings.TrimSpace(line); strings.HasPrefix(l, "--") {
					shown = append(shown, flagNames(l)...)
				}
			}
			for _, name := range flagsOf(c) {
				if name != "help" && name != "any" { // add and import know --any only to refuse it
					have = append(have, name)
				}
			}
			shown = slices.DeleteFunc(shown, func(s string) bool { return s == "any" })
			slices.Sort(shown)
			slices.Sort(have)
			if !slices.Equal(shown, have) {
				t.Errorf("the page shows %v,\nthe command has %v", shown, have)
			}
			if strings.Contains(out.String(), "cycod") {
				t.Error("the page names another program")
			}
		})
	}
}

func flagsOf(c *cobra.Command) (names []string) {
	if c.DisableFlagParsing {
		return addition.Names(addition.Options())
	}
	for line := range strings.Lines(c.LocalFlags().FlagUsages()) {
		if _, flag, ok := strings.Cut(line, "--"); ok {
			names = append(names, flagNames("--"+flag)...)
		}
	}
	return names
}

// flagNames are the long flags that a line of options declares: one, at its beginning.
func flagNames(left string) []string {
	first, _, _ := strings.Cut(left, " ")
	if name, ok := strings.CutPrefix(strings.TrimSuffix(first, ","), "--"); ok {
		return []string{name}
	}
	return nil
}

func TestSplitWords(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil},
		{"  vim  -u\tNONE ", []string{"vim", "-u", "NONE"}},
		{`'my editor' "a 'b' c" ''`, []string{"my editor", "a 'b' c", ""}},
		{`code --wait`, []string{"code", "--wait"}},
		{`a"b c"d`, []string{"ab cd"}},
		{`'open`, nil},
	} {
		got, err := splitWords(c.line)
		if !slices.Equal(got, c.want) || (err != nil) != (c.line == `'open`) {
			t.Errorf("%q: %q, %v", c.line, got, err)
		}
	}
	if got := addWaitFlag([]string{"/usr/bin/code"}); !slices.Equal(got, []string{"/usr/bin/code", "--wait"}) {
		t.Errorf("an editor with windows is not waited for: %q", got)
	}
	if got := addWaitFlag([]string{"code", "-w"}); len(got) != 2 {
		t.Errorf("told twice to wait: %q", got)
	}
}

// FuzzParseAdd: any command line is parsed or rejected with problems, without a panic, and a parsed
// definition can be written.
func FuzzParseAdd(f *testing.F) {
	f.Add("x\n--bash\necho {A}\n--parameter\nA\nan A\ntype=number\ndefault=1")
	f.Add("--step\na\nb\n--parallel\n--step-command-linux\na\nc\n--wait-for\na,,b\n--test\nt\n\n--test-param\nA=1")
	f.Add("0\n--parameter\n\n\xe70")
	f.Add("--parameter\nO\n\ntype=object\ndefault={\"a\":[1,null]}\n--\n-x\n--scope=any\n-l")
	f.Fuzz(func(t *testing.T, line string) {
		add := addition.Parse(strings.Split(line, "\n"))
		checkAddition(add)
		if len(add.Problems) == 0 && !add.HasFile {
			if err := (&toolWriter{}).setText(&ui.Env{}, add); err != nil {
				t.Errorf("%q: %v", line, err)
			}
		}
	})
}
