package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestOneScope: which scope several flags choose.
func TestOneScope(t *testing.T) {
	for _, c := range []struct {
		given []string
		want  string // a scope, or a part of the error
	}{
		{nil, "local"}, {[]string{"user"}, "user"}, {[]string{"global", "global"}, "global"}, {[]string{"any"}, "any"},
		{[]string{"user", "global"}, "the scopes global and user cannot be combined"},
		{[]string{"usr"}, `--scope "usr" is not one of local, user, global, any; did you mean "user"?`},
	} {
		got, err := OneScope(c.given, "local")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.given, got, c.want)
		}
	}
}

// TestScopeFlags: the flags that a page declares choose a scope.
func TestScopeFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "user"}, {[]string{"-g"}, "global"}, {[]string{"--scope", "local"}, "local"}, {[]string{"--local", "--scope=local"}, "local"}, {[]string{"-l", "-u"}, "cannot be combined"},
	} {
		var scope Scope
		got := ""
		cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(cmd *cobra.Command, _ []string) (err error) {
			got, err = scope.Choose(cmd, "user")
			return err
		}}
		Page{Title: "X", Options: []Group{scope.Options("Look in the %s", "Look everywhere", "user")}}.Apply(cmd)
		cmd.SetArgs(c.args)
		if err := cmd.Execute(); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.args, got, c.want)
		}
	}
}

// TestPage: the help of a command has the parts of its page in their order.
func TestPage(t *testing.T) {
	var scope Scope
	cmd := &cobra.Command{Use: "remove"}
	Page{Title: "FLOWRUN TOOL REMOVE", About: []string{"Removes a tool."}, Usage: []string{"flowrun tool remove TOOL_NAME"},
		Options:  []Group{scope.Options("Look in the %s", "Look in all scopes", "any")},
		Examples: []Example{{"Remove one", "flowrun tool remove hello"}}, SeeAlso: []string{"flowrun help tool add"}}.Apply(cmd)
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetArgs([]string{"--help"})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, part := range []string{"FLOWRUN TOOL REMOVE", "Removes a tool.", "USAGE", "flowrun tool remove TOOL_NAME", "SCOPE OPTIONS", "--global, -g", "Look in all scopes (default)", "EXAMPLES", "flowrun tool remove hello", "SEE ALSO", "flowrun help tool add"} {
		i := strings.Index(out.String()[at:], part)
		if i < 0 {
			t.Fatalf("no %q after %d:\n%s", part, at, out.String())
		}
		at += i
	}
}
