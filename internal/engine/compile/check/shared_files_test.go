package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/library"
)

// TestSharedFiles checks of which pairs of outputs validate warns, with steps that may run at the same time and with steps
// of which one waits for the other.
func TestSharedFiles(t *testing.T) {
	const cached, kept, saved = "bash: x, cache: {outputs: ['%s']}", "bash: x, artifacts: [{path: '%s', name: a}]", "http: {url: 'http://h', save-as: '%s'}"
	for _, c := range []struct {
		a, b string
		warn bool
	}{
		{"dist/", "dist/", true},
		{"dist/", "dist", true},
		{"dist/", "./dist", true},
		{"dist/", "dist/**", true},
		{"dist/", "dist/sub/", true},
		{"dist/sub/*.js", "dist", true},
		{"dist/*.js", "dist/*.js", true},
		{"out", "out", true},
		{"dist/", "dist/app", false}, // the file is that of the step that names it
		{"dist/*.js", "dist/*.css", false},
		{"dist/", "distance/", false},
		{"dist/{P}", "dist/{P}", false}, // known when they run
		{"a", "b", false},
	} {
		for _, kinds := range [][2]string{{cached, cached}, {cached, kept}, {kept, kept}, {kept, saved}, {saved, saved}} {
			if strings.Contains(kinds[1], "http") && strings.ContainsAny(c.a+c.b, "*/") {
				continue // no name of a file
			}
			for _, swap := range []bool{false, true} {
				first, second := fmt.Sprintf(kinds[0], c.a), fmt.Sprintf(kinds[1], c.b)
				if swap {
					first, second = second, first
				}
				for more, warn := range map[string]bool{"": false, "wait-for: [], ": true, "wait-for: [one], ": false, "parallel: true, ": true} {
					checkShared(t, "- {name: one, "+first+"}\n- {name: two, "+more+second+"}\n", warn && c.warn)
				}
				checkShared(t, "- {name: one, "+first+"}\n- {name: between, bash: x}\n- {name: two, wait-for: [between], "+second+"}\n", false)
				checkShared(t, "- {name: one, run-condition: \"{P} == 'x'\", "+first+"}\n- {name: two, run-condition: \"{P} == 'y'\", wait-for: [], "+second+"}\n", false)
				checkShared(t, "- name: group\n  steps:\n  - {name: one, "+first+"}\n  - {name: two, wait-for: [], "+second+"}\n", c.warn)
			}
		}
		for more, warn := range map[string]bool{"": true, ", max-parallel: 4": true, ", max-parallel: 1": false} {
			checkShared(t, "- {name: one, for-each: {items: [1, 2]"+more+"}, "+fmt.Sprintf(cached, c.a)+"}\n", warn && !strings.Contains(c.a, "{"))
			checkShared(t, "- {name: one, for-each: {items: [1, 2]"+more+"}, "+fmt.Sprintf(cached, c.a+"-{item}")+"}\n", false)
			checkShared(t, "- {name: one, for-each: {items: [1, 2]"+more+"}, working-directory: '{item}', "+fmt.Sprintf(cached, c.a)+"}\n", false)
		}
	}
	checkShared(t, "- {name: one, working-directory: x, bash: x, cache: {outputs: [out]}}\n- {name: two, wait-for: [], bash: x, cache: {outputs: [out]}}\n", false)
}

func checkShared(t *testing.T, steps string, want bool) {
	t.Helper()
	def, ds := decode.File("t.yaml", []byte("name: t\ndescription: d\nparameters: {P: {description: p}}\nsteps:\n"+steps))
	if err := ds.Err(); err != nil {
		t.Fatal(err, steps)
	}
	p, err := compile.Definition(library.New(library.Config{}), "", def)
	if err != nil {
		t.Fatal(err, steps)
	}
	var told []string
	for _, d := range p.Warnings {
		if d.Code == "shared-files" {
			told = append(told, d.String())
		}
	}
	if (len(told) == 1) != want || len(told) > 1 {
		t.Errorf("%s\nwarnings %q, want one: %v", steps, told, want)
	}
}
