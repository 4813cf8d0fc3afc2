package servers

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestServerKeys: the words after flowrun mcp add and the settings of the server that they say.
func TestServerKeys(t *testing.T) {
	for _, c := range []struct {
		words string // separated by |
		want  string // the keys, or a part of the error
	}{
		{"files|--|npx|-y|/srv", `command "npx" args ["-y","/srv"]`},
		{"files|--env|A=1|--env|B=x=y|--cwd|/srv|--|server", `command "server" env {"A":"1","B":"x=y"} cwd "/srv"`},
		{"github|https://api.example.com/mcp|--header|Authorization=Bearer $TOKEN", `httpUrl "https://api.example.com/mcp" headers {"Authorization":"Bearer $TOKEN"}`},
		{"old|--sse|http://localhost:1/sse|--trust", `type "sse" url "http://localhost:1/sse" trust true`},
		{"files|--timeout|30s|--description|Files.|--include|a|--include|b|--exclude|c|--|x", `command "x" description "Files." timeout "30s" includeTools ["a","b"] excludeTools ["c"]`},
		{"", "give a name, and then a URL, or -- and a command"},
		{"--|x", "give a name, and then a URL"},
		{"a|b|--|x", "give a name, and then a URL"},
		{"a", "after the name, give a URL, or -- and a command"},
		{"a|--", "after the name, give a URL"},
		{"a|api.example.com", "after the name, give a URL"},
		{"a|https://x/|https://y/", "after the name, give a URL"},
		{"a|--sse|--|x", "--sse and --header are for a URL"},
		{"a|https://x/|--env|A=1", "--env and --cwd are for a command"},
		{"a b|--|x", `"a b" cannot be the name of a server`},
		{"a|--env|A|--|x", `--env: write NAME=VALUE, not "A"`},
		{"a|--env|=1|--|x", `--env: write NAME=VALUE, not "=1"`},
		{"a|--timeout|soon|--|x", `--timeout: write a time such as 30s, not "soon"`},
	} {
		var got []string
		cmd := addCommand(nil)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			fl := cmd.Flags()
			texts := func(name string) []string { list, _ := fl.GetStringArray(name); return list }
			text := func(name string) string { s, _ := fl.GetString(name); return s }
			is := func(name string) bool { b, _ := fl.GetBool(name); return b }
			keys, err := addFlags{project: is("project"), trust: is("trust"), sse: is("sse"), env: texts("env"), headers: texts("header"), include: texts("include"), exclude: texts("exclude"),
				cwd: text("cwd"), description: text("description"), timeout: text("timeout")}.keys(cmd, args)
			for _, k := range keys {
				value, _ := json.Marshal(k.Value)
				got = append(got, k.Key+" "+string(value))
			}
			return err
		}
		args := []string{}
		if c.words != "" {
			args = strings.Split(c.words, "|")
		}
		cmd.SetArgs(args)
		said := ""
		if err := cmd.Execute(); err != nil {
			said = err.Error()
		} else {
			said = strings.Join(got, " ")
		}
		if !strings.HasPrefix(said, c.want) {
			t.Errorf("%q: got %s, want %s", c.words, said, c.want)
		}
	}
}
