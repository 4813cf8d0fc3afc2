package argparse_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var listOutputs = flag.Bool("outputs", false, "list the texts of testdata/outputs that are not repaired")

// notRepaired is the number of texts of a family that are refused although they have a single
// reading. A number may only fall; a family without an entry has none.
var notRepaired = map[string]int{}

// TestOutputs reads the texts of language models in testdata/outputs. No answer may be wrong:
// other arguments than expected, or arguments where a refusal is expected. A refused text that
// could be repaired counts against its family.
func TestOutputs(t *testing.T) {
	cases := readCases(t, "testdata/outputs")
	all, right := map[string]int{}, map[string]int{}
	for _, c := range cases {
		all[c.class]++
		got, refusal := parse(t, c.schema, c.tool, c.input)
		switch {
		case refusal == nil && !isOneOf(t, got.Value, c.want):
			t.Errorf("%s/%s: wrong answer\ninput   %s\ngot     %s\nwant    %s", c.class, c.name, cut(c.input), cut(encode(t, got.Value)), wanted(c))
		case refusal == nil && c.repaired != nil && *c.repaired != got.Repaired:
			t.Errorf("%s/%s: repaired = %v, want %v\ninput   %s\nrepairs %v", c.class, c.name, got.Repaired, *c.repaired, cut(c.input), got.Repairs)
		case refusal != nil && c.accepted():
			if *listOutputs {
				fmt.Printf("%s/%s: %s: %s\n    %s\n", c.class, c.name, refusal.Code, refusal.Message, strings.ReplaceAll(cut(c.input), "\n", "\n    "))
			}
		default:
			right[c.class]++
		}
	}
	total := 0
	for _, class := range slices.Sorted(maps.Keys(all)) {
		total += right[class]
		if *listOutputs {
			fmt.Printf("%-24s %3d of %3d\n", class, right[class], all[class])
		}
		if refused := all[class] - right[class]; refused != notRepaired[class] {
			t.Errorf("%s: %d texts are not repaired, want %d; list them with -outputs", class, refused, notRepaired[class])
		}
	}
	t.Logf("%d of %d are right", total, len(cases))
}

// TestOutputsCutOff checks that a truncated text in brackets or tags is refused, or is the
// same call.
func TestOutputsCutOff(t *testing.T) {
	for _, c := range readCases(t, "testdata/outputs") {
		text := strings.TrimSpace(c.input)
		if len(c.want) == 0 || text == "" || strings.IndexByte(`{[(<`, text[0]) < 0 && !strings.HasPrefix(text, c.tool+"(") {
			continue
		}
		for i := 1; i < len(text); i++ {
			if got, refusal := parse(t, c.schema, c.tool, text[:i]); refusal == nil && !isOneOf(t, got.Value, c.want) && !json.Valid([]byte(text[:i])) {
				t.Errorf("%s/%s: %s became %s", c.class, c.name, cut(text[:i]), cut(encode(t, got.Value)))
				break
			}
		}
	}
}
