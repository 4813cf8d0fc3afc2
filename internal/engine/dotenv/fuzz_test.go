package dotenv_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/dotenv"
)

// write formats variables as a file.
func write(vars []dotenv.Var) string {
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "\r", `\r`, "\t", `\t`)
	for _, v := range vars {
		b.WriteString("export " + v.Name + " = \"" + escape.Replace(v.Value) + "\" # comment\r\n")
	}
	return b.String()
}

// FuzzParse checks that no text breaks the parser, and that its result can be written and
// parsed again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"A=1", "export A='x\\'y' # c\nB=\"$A\\n${A}\"", "\ufeffA=1\r\n", "A=\"", "A=$", "A=${", "=\n'", "A='\r\n'", "A=1\nA=2", "A=\\\"$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		vars, problems := dotenv.Parse("f", text, nil)
		for _, p := range problems {
			if p.Line < 1 || p.Col < 1 || p.Line > 1+strings.Count(text, "\n") {
				t.Errorf("%s is not a place", p)
			}
		}
		again, problems := dotenv.Parse("f", write(vars), nil)
		if diff := cmp.Diff(vars, again); diff != "" || len(problems) > 0 {
			t.Errorf("%v\n%s", problems, diff)
		}
	})
}
