package plural

import "testing"

func TestOf(t *testing.T) {
	for _, c := range []struct {
		n     int
		thing string
		want  string
	}{
		{0, "run", "0 runs"},
		{1, "run", "1 run"},
		{2, "run", "2 runs"},
		{1, "entry", "1 entry"},
		{2, "entry", "2 entries"},
		{3, "match", "3 matches"},
	} {
		if got := Of(c.n, c.thing); got != c.want {
			t.Errorf("Of(%d, %q) = %q, want %q", c.n, c.thing, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"a", "b"}, "a, b"},
		{[]string{"a", "b", "c"}, "a, b, 1 more"},
		{[]string{"a", "b", "c", "d"}, "a, b, 2 more"},
	} {
		if got := Names(c.names, 2); got != c.want {
			t.Errorf("Names(%q) = %q, want %q", c.names, got, c.want)
		}
	}
}
