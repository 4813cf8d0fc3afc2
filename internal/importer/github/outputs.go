package github

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/importer"
)

// written are the outputs of a step that is carried over.
type written struct {
	step  string // in flowrun
	names []string
}

var outputWrite = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\becho\s+["']?([A-Za-z_][A-Za-z0-9_-]*)=`)
})

// declared returns a command that writes its outputs to the file of flowrun, with their names. If a name cannot be found,
// the command is returned as it is: flowrun refuses outputs that are not declared.
func declared(run string) (script string, names []string) {
	for line := range strings.Lines(run) {
		writes := strings.Count(line, "GITHUB_OUTPUT")
		if writes == 0 {
			continue
		}
		found := outputWrite().FindAllStringSubmatch(line, -1)
		if len(found) != writes || strings.Contains(line, `\n`) || strings.Count(line, "$GITHUB_OUTPUT")+strings.Count(line, "${GITHUB_OUTPUT}") != writes {
			return run, nil
		}
		for _, m := range found {
			if !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return strings.NewReplacer("${GITHUB_OUTPUT}", "${FLOWRUN_OUTPUT}", "$GITHUB_OUTPUT", "$FLOWRUN_OUTPUT").Replace(run), names
}

// output returns the placeholder for an expression steps.ID.outputs.NAME, or "".
func (c *context) output(expression string) string {
	parts := strings.Split(expression, ".")
	if len(parts) != 4 || parts[0] != "steps" || parts[2] != "outputs" {
		return ""
	}
	w, ok := c.outputs[parts[1]]
	if !ok || !slices.Contains(w.names, parts[3]) {
		return ""
	}
	return importer.Ref(w.step + ".outputs." + parts[3])
}
