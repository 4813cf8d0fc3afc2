package enginetest

import "testing"

// TestArguments: arguments passes parameters to another tool, as with does.
func TestArguments(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.file("used.yaml", "name: used\ndescription: d\nparameters: {X: {description: x}}\nrun: echo got {X}\n")
	for _, key := range []string{"with", "arguments"} {
		res := b.run(t.Context(), "parameters: {Y: {description: y, default: it}}\nsteps: [{name: a, use-tool: ./used.yaml, "+key+": {X: '{Y}'}}]\n", nil)
		if res.Output != "got it\n" {
			t.Errorf("%s: %q, %v", key, res.Output, res.Err())
		}
	}
}
