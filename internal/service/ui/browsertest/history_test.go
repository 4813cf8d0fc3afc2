package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The size of the prepared history.
const (
	manyRuns  = 5000
	manySteps = 2000
)

// The prepared runs by their names.
var runs = map[string]string{}

// writeMany writes the definition of a tool with manySteps steps, none of which runs anything.
func writeMany(dir string) error {
	var b strings.Builder
	b.WriteString("name: many\ndescription: A graph of many steps\nsteps:\n")
	for i := range manySteps {
		fmt.Fprintf(&b, "  - {name: n%d, bash: 'true', run-condition: 'false'", i)
		switch layer, at := i/50, i%50; {
		case layer == 0:
			b.WriteString(", wait-for: []")
		default:
			fmt.Fprintf(&b, ", wait-for: [n%d, n%d]", (layer-1)*50+at, (layer-1)*50+(at*7+3)%50)
		}
		b.WriteString("}\n")
	}
	return os.WriteFile(filepath.Join(dir, "many.yaml"), []byte(b.String()), 0o644)
}

// fill makes the runs that tests look at.
func (s *service) fill() error {
	if err := parallel(manyRuns, func(int) error { _, err := s.startRun("nothing", nil); return err }); err != nil {
		return err
	}
	for _, r := range []struct {
		tool, status string
		params       map[string]any
	}{
		{"report", "succeeded", map[string]any{"NAME": "Ada"}},
		{"deploy", "failed", map[string]any{"TARGET": "staging"}},
		{"release", "waiting", nil},
		{"slow", "running", nil},
		{"many", "succeeded", nil},
		{"loop", "succeeded", nil},
		{"keeps", "succeeded", nil},
	} {
		id, err := s.startRun(r.tool, r.params)
		if err != nil {
			return err
		}
		runs[r.tool] = id
		if err := s.await(id, r.status); err != nil {
			return err
		}
	}
	return nil
}
