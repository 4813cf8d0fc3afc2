package rundiff

import (
	"runtime"
	"strings"
	"testing"
)

// TestTexts holds which line of two texts differs first.
func TestTexts(t *testing.T) {
	long := strings.Repeat("x", 1000)
	huge := strings.Repeat("y", 3*maxPart)
	for _, c := range []struct {
		before, after string
		want          string // LINE|BEFORE|AFTER, "" for no difference
	}{
		{"", "", ""},
		{"a\nb\n", "a\nb\n", ""},
		{"a\nb\n", "a\nb", ""}, // whether the last line has an end does not matter
		{"a\r\n", "a\n", ""},
		{"a\nb\n", "a\nc\n", "2|b|c"},
		{"a\n", "a\nc\n", "2|nothing|c"},
		{"a\n\nb", "a\n", "2||nothing"},
		{"", "c", "1|nothing|c"},
		{long + "1\n", long + "2\n", "1|..." + strings.Repeat("x", around) + "1|..." + strings.Repeat("x", around) + "2"},
		{"1" + long, "2" + long, "1|1" + strings.Repeat("x", maxShown-1) + "...|2" + strings.Repeat("x", maxShown-1) + "..."},
		{"first\n" + huge + "1", "first\n" + huge + "2", "2|1|2"}, // the part that differs
		{huge + "\nb", huge + "\nc", "2|b|c"},
		{"caf\xe9", "cafe", "1|caf\uFFFD|cafe"},
	} {
		got, err := newComparison(maxCompared).texts(strings.NewReader(c.before), strings.NewReader(c.after))
		text := ""
		if got != nil {
			text = strings.Join([]string{string(rune('0' + got.Line)), line(got.Before), line(got.After)}, "|")
		}
		if err != nil || text != c.want {
			t.Errorf("%.40q, %.40q: %v, %.300s, want %.300s", c.before, c.after, err, text, c.want)
		}
	}
}

func line(text *string) string {
	if text == nil {
		return "nothing"
	}
	return *text
}

// TestTextsStop: what is read of logs has a limit.
func TestTextsStop(t *testing.T) {
	c := newComparison(10)
	if got, err := c.texts(strings.NewReader("aaaa\nbbbb\n1"), strings.NewReader("aaaa\nbbbb\n2")); got != nil || err != nil || !c.cut {
		t.Error(got, err, c.cut)
	}
}

// TestTextsMemory: one pair of logs after another needs the memory of one.
func TestTextsMemory(t *testing.T) {
	c := newComparison(maxCompared)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if got, err := c.texts(strings.NewReader("a"), strings.NewReader("a")); got != nil || err != nil {
			t.Fatal(got, err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100_000 {
		t.Errorf("100 pairs of small logs took %d bytes", used)
	}
}
