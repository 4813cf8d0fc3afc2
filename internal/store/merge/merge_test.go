package merge

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	for _, c := range []struct{ how, old, v, want string }{
		{Last, `1`, `2`, `2`},
		{Max, ``, `1`, `1`},
		{Max, `9`, `10`, `10`},
		{Max, `10`, `9.5`, `10`},
		{Max, `9007199254740993`, `9007199254740992`, `9007199254740993`},
		{Max, `"b"`, `"a"`, `"b"`},
		{Min, `"b"`, `"a"`, `"a"`},
		{Min, `2`, `2.0`, `2`},
		{Append, `[1]`, `[2,"x"]`, `[1,2,"x"]`},
		{Max, `1`, `"a"`, "merge: max and min need two numbers or two texts, but found 1 and \"a\""},
		{Append, `[1]`, `"` + strings.Repeat("x", 50) + `"`, `merge: append needs lists, but found [1] and "` + strings.Repeat("x", 39) + "..."},
	} {
		v, err := Values(c.how, json.RawMessage(c.old), json.RawMessage(c.v))
		got := string(v)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s of %s and %s: %s, want %s", c.how, c.old, c.v, got, c.want)
		}
	}
}
