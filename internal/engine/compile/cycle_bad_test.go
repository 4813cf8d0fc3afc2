package compile_test

import "testing"

// TestBadCycles: a cycle is shown with everything on it.
func TestBadCycles(t *testing.T) {
	t.Parallel()
	beside := map[string]string{"other": "steps: [{name: y, use-tool: ./under-test.yaml}]"}
	testWrong(t, beside, map[string]wrong{
		"steps":    {"steps:\n  - {name: a, bash: \"echo {b.output}\"}\n  - {name: b, bash: echo, wait-for: [a]}", []string{"5:38 cycle"}, "a waits for b, which waits for a"},
		"tools":    {"steps:\n  - {name: x, use-tool: ./other.yaml}", []string{"3:29 recursion"}, "under-test -> other -> under-test"},
		"defaults": {"bash: echo {P}\nparameters:\n  P: {description: d, default: \"{Q}\"}\n  Q: {description: d, default: \"{P}\"}", []string{"6:32 default-cycle"}, "P -> Q -> P"},
	})
}
