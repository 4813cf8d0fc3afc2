package console

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
)

func TestTable(t *testing.T) {
	header := []string{"ID", "STATUS", "MESSAGE"}
	for _, c := range []struct {
		name   string
		header []string
		rows   [][]string
		o      TableOptions
		want   string
	}{
		{"aligned", header, [][]string{{"a", "succeeded", ""}, {"long-id", "failed", "it broke"}}, TableOptions{},
			"ID       STATUS     MESSAGE\na        succeeded\nlong-id  failed     it broke\n"},
		{"without a header", nil, [][]string{{"a", "b"}, {"cc", "d"}}, TableOptions{}, "a   b\ncc  d\n"},
		{"rows of any length", header, [][]string{{}, {"a"}, {"b", "", "c", "d"}}, TableOptions{}, "ID  STATUS  MESSAGE\n\na\nb           c        d\n"},
		{"cut", header, [][]string{{"a", "failed", "a long story"}}, TableOptions{Width: 20}, "ID  STATUS  MESSAGE\na   failed  a long …\n"},
		{"no room", header, [][]string{{"a", "failed", "a long story"}}, TableOptions{Width: 5}, "ID  STATUS  …\na   failed  …\n"},
		{"a long cell gives way", header, [][]string{{strings.Repeat("n", 60), "failed", "a long story"}, {"b", "ok", "x"}}, TableOptions{Width: 42},
			"ID                    STATUS  MESSAGE\n" + strings.Repeat("n", 19) + "…  failed  a long story\nb                     ok      x\n"},
		{"a long cell gives way, not all of it", header, [][]string{{strings.Repeat("n", 60), "failed", "a long story"}}, TableOptions{Width: 30},
			"ID        STATUS  MESSAGE\nnnnnnnn…  failed  a long story\n"},
		{"several long cells give way", nil, [][]string{{strings.Repeat("a", 30), strings.Repeat("b", 24), strings.Repeat("c", 25), "note"}}, TableOptions{Width: 60},
			strings.Repeat("a", 15) + "…  " + strings.Repeat("b", 16) + "…  " + strings.Repeat("c", 16) + "…  note\n"},
		{"no width, no cut", nil, [][]string{{"a", strings.Repeat("x", 300)}}, TableOptions{}, "a  " + strings.Repeat("x", 300) + "\n"},
		{"wide characters", nil, [][]string{{"手順", "x"}, {"abcd", "y"}, {"é", "z"}, {"e\u0301", "z"}, {"🚀", "w"}}, TableOptions{}, "手順  x\nabcd  y\né     z\ne\u0301     z\n🚀    w\n"},
		{"wide characters cut", nil, [][]string{{"a", "手順手順"}}, TableOptions{Width: 8}, "a  手順…\n"},
		{"untrusted", nil, [][]string{{"\x1b[2Ja\tb", "line\nbreak\r\nagain\r\n"}, {"\u202ec\xff", "d"}}, TableOptions{},
			"\uFFFD[2Ja b  line break again\n\uFFFDc\uFFFD      d\n"},
		{"no rows", header, nil, TableOptions{}, "ID  STATUS  MESSAGE\n"},
		{"nothing", nil, nil, TableOptions{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Table(&b, c.header, c.rows, c.o); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != c.want {
				t.Errorf("got:\n%q\nwant:\n%q", got, c.want)
			}
		})
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"01:02:03":         time.Date(2026, 11, 23, 1, 2, 3, 0, time.UTC),
		"Nov  2 23:59":     time.Date(2026, 11, 2, 23, 59, 0, 0, time.UTC),
		"2027-01-01 07:00": time.Date(2027, 1, 1, 7, 0, 0, 0, time.UTC),
		"23:00:00":         time.Date(2026, 11, 22, 23, 0, 0, 0, time.FixedZone("west", -7*3600)),
	} {
		if got := Clock(at, now); got != want {
			t.Errorf("Clock(%v) = %q, want %q", at, got, want)
		}
	}
}

// TestTableColor checks that colors do not change the alignment, and that a cut cell has the
// color of the whole one.
func TestTableColor(t *testing.T) {
	color := func(col int, cell string) string {
		if s, err := dag.ParseStatus(cell); err == nil && col == 1 {
			return StyleOf(s).Color
		}
		return ""
	}
	var b bytes.Buffer
	if err := Table(&b, []string{"ID", "failed"}, [][]string{{"failed", "failed"}, {"b", "succeeded"}, {"c", ""}}, TableOptions{Width: 14, Color: color}); err != nil {
		t.Fatal(err)
	}
	want := "ID      failed\nfailed  \x1b[31mfailed\x1b[0m\nb       \x1b[32msucce…\x1b[0m\nc\n"
	if got := b.String(); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// broken is a writer that fails after some writes.
type broken struct {
	got  bytes.Buffer
	left int
}

var errFull = errors.New("no space left")

func (w *broken) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errFull
	}
	return w.got.Write(b)
}

func TestDrawingsReportWriters(t *testing.T) {
	for name, err := range map[string]error{
		"table":    Table(&broken{}, nil, [][]string{{"a"}}, TableOptions{}),
		"timeline": Timeline(&broken{}, release(), TimelineOptions{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAge(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{-time.Hour, "0s"}, {0, "0s"}, {999 * time.Millisecond, "0s"}, {59 * time.Second, "59s"}, {time.Minute, "1m"}, {59*time.Minute + 59*time.Second, "59m"},
		{time.Hour, "1h"}, {23*time.Hour + 59*time.Minute, "23h"}, {24 * time.Hour, "1d"}, {500 * 24 * time.Hour, "500d"},
	} {
		if got := Age(c.d); got != c.want {
			t.Errorf("%v: %s, want %s", c.d, got, c.want)
		}
	}
}

// TestStyles checks that every state has a word and a glyph.
func TestStyles(t *testing.T) {
	for s := dag.Pending; s <= dag.Interrupted; s++ {
		l := StyleOf(s)
		if columns(l.Glyph) != 1 || len(l.ASCII) != 1 || l.Color == "" || l.Fill == "" || l.Line == "" {
			t.Errorf("%s: %+v", s, l)
		}
	}
}
