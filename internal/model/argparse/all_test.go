package argparse_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// TestAllAtOnce: one refusal names everything that is wrong with names and values, and
// stays within its bounds however much that is.
func TestAllAtOnce(t *testing.T) {
	s, err := argparse.ReadParameters([]byte(`{"name":{"required":true},"times":{"type":"number"},"loud":{"type":"boolean"}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, refused := argparse.Parse(s, "", []byte(`{nam: 'Ada', times: 'x', loud: "perhaps"}`))
	if refused == nil || refused.Code != "undeclared" {
		t.Fatalf("%+v", refused)
	}
	for _, part := range []string{`"nam"`, `missing required parameter "name"`, "times: ", "loud: "} {
		if !strings.Contains(refused.Message, part) {
			t.Errorf("%q does not say %s", refused.Message, part)
		}
	}
	_, refused = argparse.Parse(&argparse.Schema{Types: []string{"object"}, Open: true}, "", []byte("{"+strings.Repeat(`"a`+strings.Repeat("b", 9)+`": f(x), `, 1000)+`"b": 1}`))
	if refused == nil || len(refused.Message) > 2048 {
		t.Errorf("%+v", refused)
	}
}
