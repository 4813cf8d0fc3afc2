package diagnostic

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"tiemout", "timeout", 1}, {"bsh", "bash", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}} {
		if got := Distance(c.a, c.b); got != c.want || Distance(c.b, c.a) != got {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := Near("ax", []string{"ab", "ac", "ad", "ae"}); len(got) != maxSuggestions {
		t.Errorf("Near gives %v", got)
	}
	if got := Near("a", []string{"b"}); len(got) != 0 {
		t.Errorf("nothing of %v is in the word", got)
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"timeout", "timer", "tags", "steps", "step", "Steps", ""}
	for word, want := range map[string]string{
		"tiemout": `did you mean "timeout"?`, "stepz": `did you mean "steps" or "step" or "Steps"?`, "timeout": "", "zzz": "", "": "", "t": "",
		"step": `did you mean "steps" or "Steps"?`,
	} {
		if got := DidYouMean(word, names); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
