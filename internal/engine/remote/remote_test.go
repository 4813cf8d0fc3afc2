package remote

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/sshcommand"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

func TestDescribe(t *testing.T) {
	word := expr.Literal
	for want, account := range map[string]*Account{
		"":                                      nil,
		"ssh db1":                               {Host: word("db1")},
		"ssh deploy@db1 port 2222 through gate": {Host: word("db1"), User: word("deploy"), Port: word("2222"), Jump: word("gate")},
	} {
		if got := account.Describe(func(t *expr.Template) string { return t.LiteralText() }); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What the ssh client says is passed on; what to do is added where it is known.
func TestHintFor(t *testing.T) {
	for message, want := range map[string]string{
		"Host key verification failed.":             "known hosts only",
		"root@db1: Permission denied (publickey).":  "ssh.key",
		"ssh: connect to host db1 port 22: refused": "",
	} {
		if got := hintFor(message); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want one with %q", message, got, want)
		}
	}
}

// Steps with the same account share one connection.
func TestConnections(t *testing.T) {
	var list Connections
	first := list.to(sshcommand.Target{Host: "db1", User: "deploy"})
	if again := list.to(sshcommand.Target{Host: "db1", User: "deploy"}); again != first {
		t.Error("the same account has two connections")
	}
	if other := list.to(sshcommand.Target{Host: "db1", User: "root"}); other == first {
		t.Error("two accounts share a connection")
	}
	list.Close()
}
