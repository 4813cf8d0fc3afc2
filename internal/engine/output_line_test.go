package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/library"
)

// A value that a script returns is written as one whole line; text is written as it is.
func TestOutputEndsItsLine(t *testing.T) {
	scripts := hooks.New(hooks.Config{InProcess: true})
	defer scripts.Close()
	for steps, want := range map[string]string{
		"js: 'return {a: 1}'": "{\"a\":1}\n",
		"js: return 'text'":   "text",
		"js: return":          "",
		"bash: printf '{}'":   "{}",
		"steps: [{name: a, js: 'return [1]'}, {name: b, run-condition: 'false', bash: echo}]": "[1]\n", // delivered at the end
	} {
		def, found := decode.File("t.yaml", []byte("name: t\ndescription: Prints.\n"+steps+"\n"))
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		plan, err := engine.CompileDefinition(library.New(library.Config{}), def)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		_, err = engine.New(engine.Config{JavaScript: scripts}).Run(context.Background(), plan, nil, engine.WithStdout(&out))
		if err != nil || out.String() != want {
			t.Errorf("%s: got %q, %v; want %q", steps, &out, err, want)
		}
	}
}
