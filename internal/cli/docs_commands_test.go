package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// TestCommandsOfPages checks that the commands and flags in the examples of README.md and of all pages for users
// exist.
func TestCommandsOfPages(t *testing.T) {
	root := rootCommand(&ui.Env{}, nil, nil)
	pages := []string{"../../README.md", "../../examples/README.md"}
	err := filepath.WalkDir("../../docs", func(file string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".md" && !strings.Contains(filepath.ToSlash(file), "/docs/dev/") && d.Name() != "requirements.md" {
			pages = append(pages, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			for _, m := range commandInPage.FindAllStringSubmatch(line, -1) {
				checked++
				for _, problem := range wrongCommand(root, strings.Fields(m[1])) {
					t.Errorf("%s:%d: %s: %s", page, n+1, m[1], problem)
				}
			}
		}
	}
	if checked < 500 {
		t.Errorf("found only %d commands", checked)
	}
}

// commandInPage matches a command in backticks, in an indented block, or after a prompt.
var commandInPage = regexp.MustCompile("(?:^    |^\\$ |`)flowrun ((?:[a-z]|-)[^`|;&#<>()]*)")

// wrongCommand returns the subcommand and the flags that do not exist. What follows -- or two spaces is not part of
// the command.
func wrongCommand(root *cobra.Command, words []string) (problems []string) {
	switch words[0] {
	case "help", "temporal", "stage", "--no-history": // built in; plugins of examples; a tool in a table of figures
		return nil
	}
	c, rest, err := root.Find(words)
	if err != nil || c == root && !strings.HasPrefix(words[0], "-") {
		return []string{"there is no command " + words[0]}
	}
	for _, word := range rest {
		name, isFlag := strings.CutPrefix(word, "--")
		name = flagName.FindString(name)
		if word == "--" {
			break
		}
		if !isFlag || name == "" || c.DisableFlagParsing || name == "help" || name == "version" {
			continue
		}
		if c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
			problems = append(problems, "there is no flag --"+name)
		}
	}
	return problems
}

var flagName = regexp.MustCompile(`^[a-z][a-z-]*`)

func TestWrongCommand(t *testing.T) {
	root := rootCommand(&ui.Env{}, nil, nil)
	for line, want := range map[string]string{
		"run deploy --dry-run":             "",
		"run deploy --dryrun":              "there is no flag --dryrun",
		"runn deploy":                      "there is no command runn",
		"schedule add x --cron=1":          "",
		"schedule add x --crn 1":           "there is no flag --crn",
		"mcp install --client x -- --any":  "",
		"--version":                        "",
		"validate --strict --color always": "",
	} {
		if got := strings.Join(wrongCommand(root, strings.Fields(line)), ", "); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
