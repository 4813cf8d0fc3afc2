package jsregexp

import "testing"

func TestOneByOne(t *testing.T) {
	for _, c := range []struct {
		pattern, flags string
		want           bool
	}{
		{"a", "g", false}, {"a", "", false}, {"a*", "", false}, {"a*", "g", true}, {"a?", "g", true}, {"a??", "g", true}, {"a+?", "g", false}, {"a", "y", true}, {"a", "gy", true},
		{"", "g", false}, {"a|", "g", true}, {"a|b", "g", false}, {"a|b*", "g", true}, {"(a|b)", "g", false}, {"(a|b)?", "g", true}, {"(?:a|(b*))c", "g", false}, {"(?<n>a)", "g", false},
		{"^", "gm", false}, {"$", "g", false}, {"^|$", "g", false}, {"^|a", "g", true}, {"^a*", "g", true}, {"(?=a)|b*", "g", true}, {`\B(?=(\d{3})+(?!\d))`, "g", false}, {"^a$", "g", false}, {`\b`, "g", false}, {`\bx\b`, "g", false}, {`\d`, "g", false}, {`\d*`, "g", true}, {`(a?)\1`, "g", true}, {`\\*`, "g", true},
		{"(?=a)", "g", false}, {"(?<!a)(?!b)", "g", false}, {"(?<=a)b", "g", false}, {"[a]", "g", false}, {"[a]*", "g", true}, {`[^\]]`, "g", false}, {"[]", "g", false}, {"[(]|x", "g", false}, {"[(]|x*", "g", true},
		{"a{2}", "g", false}, {"a{0,3}", "g", true}, {"a{0}", "g", true}, {"a{,2}", "g", false}, {`\{0}`, "g", false}, {"a{", "g", false}, {`\u{61}`, "gu", false}, {`\x41?`, "g", true}, {`\u0041?`, "g", true}, {`\u{41}?`, "gu", true}, {`\p{L}*`, "gu", true}, {`\cA?`, "g", true}, {`\012?`, "g", true}, {`\x4`, "g", false}, {`\.?`, "g", true}, {`(?<n>a?)\k<n>`, "g", true}, {"(a", "g", false},
		{"a", "u", false}, {"(?<=a)b", "u", true}, {"(?=)a", "u", true}, {`(a)\1`, "u", true}, {"(?<=a)b", "gu", false}, {"(?<=a)b", "", false},
	} {
		if got := OneByOne(c.pattern, c.flags); got != c.want {
			t.Errorf("/%s/%s: %v, want %v", c.pattern, c.flags, got, c.want)
		}
	}
}
