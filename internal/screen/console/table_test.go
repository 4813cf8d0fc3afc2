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
	header := Columns("ID", "STATUS", "MESSAGE")
	message := []Column{{Title: "ID"}, {Title: "STATUS"}, {Title: "MESSAGE", Yields: 1}}
	run := []Column{{Title: "RUN"}, {Title: "TOOL", Yields: 4}, {Title: "STARTED", Yields: 3, Whole: true}, {Title: "TRIGGER", Yields: 1}, {Title: "NOTE", Yields: 2, Prose: true}}
	one := [][]string{{"1m8hkj6abcdef", "nightly-report", "15:04:05", "schedule:nightly", "step fetch failed: exit 1, see its output"}}
	untitled := TableOptions{NoTitles: true}
	for _, c := range []struct {
		name string
		cols []Column
		rows [][]string
		o    TableOptions
		want string
	}{
		{"aligned", header, [][]string{{"a", "succeeded", ""}, {"long-id", "failed", "it broke"}}, TableOptions{},
			"ID       STATUS     MESSAGE\na        succeeded\nlong-id  failed     it broke\n"},
		{"without titles", header, [][]string{{"a", "b"}, {"cc", "d"}}, untitled, "a   b\ncc  d\n"},
		{"rows of any length", Columns("ID", "STATUS", "MESSAGE", ""), [][]string{{}, {"a"}, {"b", "", "c", "d"}}, TableOptions{}, "ID  STATUS  MESSAGE\n\na\nb           c        d\n"},
		{"it fits", run, one, TableOptions{Width: 103},
			"RUN            TOOL            STARTED   TRIGGER           NOTE\n1m8hkj6abcdef  nightly-report  15:04:05  schedule:nightly  step fetch failed: exit 1, see its output\n"},
		{"one after the other is narrowed, prose less", run, one, TableOptions{Width: 80},
			"RUN            TOOL            STARTED   TRIGGER   NOTE\n1m8hkj6abcdef  nightly-report  15:04:05  schedul…  step fetch failed: exit 1, s…\n"},
		{"the next one", run, one, TableOptions{Width: 72},
			"RUN            TOOL            STARTED   TRIGGER   NOTE\n1m8hkj6abcdef  nightly-report  15:04:05  schedul…  step fetch failed: e…\n"},
		{"then left out, and its space is used", run, one, TableOptions{Width: 64},
			"RUN            TOOL            STARTED   NOTE\n1m8hkj6abcdef  nightly-report  15:04:05  step fetch failed: exi…\n"},
		{"others are narrowed before prose is less than 20", run, one, TableOptions{Width: 55},
			"RUN            TOOL      STARTED   NOTE\n1m8hkj6abcdef  nightly…  15:04:05  step fetch failed: …\n"},
		{"prose is left out too", run, one, TableOptions{Width: 36},
			"RUN            TOOL         STARTED\n1m8hkj6abcdef  nightly-re…  15:04:05\n"},
		{"half a time says nothing", run, one, TableOptions{Width: 32},
			"RUN            TOOL\n1m8hkj6abcdef  nightly-report\n"},
		{"the last one is only narrowed, and an id never", run, one, TableOptions{Width: 10},
			"RUN            TOOL\n1m8hkj6abcdef  nightly…\n"},
		{"cut", message, [][]string{{"a", "failed", "a long story"}}, TableOptions{Width: 20}, "ID  STATUS  MESSAGE\na   failed  a long …\n"},
		{"nothing yields", header, [][]string{{"a", "failed", "a long story"}}, TableOptions{Width: 20}, "ID  STATUS  MESSAGE\na   failed  a long story\n"},
		{"no width, no cut", message, [][]string{{"a", "", strings.Repeat("x", 300)}}, untitled, "a    " + strings.Repeat("x", 300) + "\n"},
		{"wide characters", header, [][]string{{"手順", "x"}, {"abcd", "y"}, {"é", "z"}, {"e\u0301", "z"}, {"🚀", "w"}}, untitled, "手順  x\nabcd  y\né     z\ne\u0301     z\n🚀    w\n"},
		{"wide characters cut", []Column{{}, {Yields: 1}}, [][]string{{"a", "手順手順手順"}}, TableOptions{Width: 12, NoTitles: true}, "a  手順手順…\n"},
		{"untrusted", header, [][]string{{"\x1b[2Ja\tb", "line\nbreak\r\nagain\r\n"}, {"\u202ec\xff", "d"}}, untitled,
			"\uFFFD[2Ja b  line break again\n\uFFFDc\uFFFD      d\n"},
		{"no rows", header, nil, TableOptions{}, "ID  STATUS  MESSAGE\n"},
		{"nothing", nil, nil, untitled, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Table(&b, c.cols, c.rows, c.o); err != nil {
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
	if err := Table(&b, []Column{{Title: "ID"}, {Title: "failed", Yields: 1}}, [][]string{{"failed", "failed"}, {"b", "succeeded"}, {"c", ""}}, TableOptions{Width: 16, Color: color}); err != nil {
		t.Fatal(err)
	}
	want := "ID      failed\nfailed  \x1b[31mfailed\x1b[0m\nb       \x1b[32msucceed…\x1b[0m\nc\n"
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
		"table":    Table(&broken{}, Columns("A"), [][]string{{"a"}}, TableOptions{}),
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
