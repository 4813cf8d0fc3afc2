package argparse_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// FuzzCorpus begins with the corpus: whatever happens to its texts, a value has the
// declared types and is itself when it is sent again; spaces behind braces change nothing.
func FuzzCorpus(f *testing.F) {
	cases := readCorpus(f)
	for i, c := range cases {
		if len(c.input) < 2000 {
			f.Add(i, c.input)
		}
	}
	f.Fuzz(func(t *testing.T, i int, text string) {
		c := *cases[(i%len(cases)+len(cases))%len(cases)]
		c.input, c.want, c.refused, c.repaired, c.defaults, c.suggests, c.offset = text, nil, []string{"any"}, nil, nil, nil, -1
		got, refusal := argparse.Parse(c.schema, c.tool, []byte(text))
		if refusal != nil {
			checkRefusal(t, &c, refusal)
			return
		}
		c.want = []string{encode(t, got.Value)}
		checkValue(t, &c, got)
		if !json.Valid([]byte(c.want[0])) {
			t.Fatalf("%s", c.want[0])
		}
		again, refusal := argparse.Parse(c.schema, c.tool, []byte(c.want[0]))
		if refusal != nil || again.Repaired || !isOneOf(t, again.Value, c.want) {
			t.Fatalf("%q became %s, and that %v (%v)", text, c.want[0], again, refusal)
		}
		if !strings.HasSuffix(text, "}") {
			return // spaces may belong to a text
		}
		if later, refusal := argparse.Parse(c.schema, c.tool, []byte(text+" \n")); refusal == nil && !isOneOf(t, later.Value, c.want) {
			t.Fatalf("%q became %s, and with spaces behind it %s", text, c.want[0], encode(t, later.Value))
		}
	})
}
