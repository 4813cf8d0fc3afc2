package attack

import "testing"

// TestValuesAreData: what a caller gives is data, whatever is in it and wherever the
// definition puts it.
func TestValuesAreData(t *testing.T) {
	for name, c := range map[string]struct{ command, value string }{
		"bare":          {`echo {X}`, `$(touch PWN)`},
		"double quotes": {`echo "{X}"`, `"; touch PWN; "`},
		"single quotes": {`echo '{X}'`, `'; touch PWN; '`},
		"substitution":  {`echo "$(printf %s {X})"`, "`touch PWN`"},
		"here-document": {"cat <<END\n{X}\nEND", "$(touch PWN)\nEND\ntouch PWN"},
		"arithmetic":    {`echo $(( {X} + 1 ))`, `a[$(touch PWN)]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write("t.yaml", "name: t\ndescription: x\nparameters: {X: {type: string, description: x}}\nsteps:\n  - name: s\n    bash: |\n      "+indent(c.command)+"\n")
			out := s.run("run", "./t.yaml", "X="+c.value)
			if s.exists("PWN") {
				t.Errorf("the value ran\n%s", out)
			}
		})
	}
}
