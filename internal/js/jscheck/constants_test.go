package jscheck

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConstants: the texts that an expression returns as they are written, and none that are only part of its work.
func TestConstants(t *testing.T) {
	for code, want := range map[string][]string{
		`value ? '' : '-i'`:                     {"", "-i"},
		`(value === '-x') ? ("-a") : value`:     {"-a"},
		`value > 2 ? '-a' : value ? '-b' : 'c'`: {"-a", "-b", "c"},
		`value || '-i'`:                         {"-i"},
		`value ?? '-i'`:                         {"-i"},
		`value && '-v'`:                         {"-v"},
		"value ? `-i` : `-${value}`":            {"-i"},
		`(0, '-i')`:                             {"-i"},
		`'--é\n'`:                               {"--é\n"},
		`value.replace('-rf', '')`:              nil,
		`'-' + value`:                           nil,
		`{'a': '-i'}[value]`:                    nil,
		`(v => v ? '-i' : v)(value)`:            nil,
		"tag`-i`":                               nil,
		`value !== '-i'`:                        nil,
		`value`:                                 nil,
	} {
		tree, problem := Source{Form: Expression, Text: code}.Parse()
		if problem != nil {
			t.Errorf("%s: %s", code, problem.Message)
			continue
		}
		if diff := cmp.Diff(want, tree.Constants()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", code, diff)
		}
	}
}
