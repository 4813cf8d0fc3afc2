package compile_test

import "testing"

// TestBadAliases: an alias cannot make the security of its base tool weaker.
func TestBadAliases(t *testing.T) {
	t.Parallel()
	beside := map[string]string{"strict": "bash: echo\nsecurity: {execution-privilege: reduced}", "boxed": "bash: echo\nsecurity: {isolation: container}"}
	testWrong(t, beside, map[string]wrong{
		"more than reduced":  {"type: alias\nbase-tool: ./strict.yaml\nsecurity: {execution-privilege: same-as-user}", []string{"4:12 alias-weaker"}, "execution-privilege: same-as-user, but its base tool strict has reduced"},
		"elevated":           {"type: alias\nbase-tool: ./strict.yaml\nsecurity: {execution-privilege: elevated}", []string{"4:12 alias-weaker"}, "execution-privilege: elevated, but its base tool strict has reduced"},
		"out of a container": {"type: alias\nbase-tool: ./boxed.yaml\nsecurity: {isolation: process}", []string{"4:12 alias-weaker"}, "isolation: process, but its base tool boxed has container"},
	})
}
