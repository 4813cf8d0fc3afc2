package tool_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

func TestMoment(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2026-12-01":                "2026-12-01T00:00:00+01:00",
		"2026-07-01":                "2026-07-01T00:00:00+02:00",
		"2026-12-01T08:00:00Z":      "2026-12-01T08:00:00Z",
		"2026-12-01T08:00:00+05:30": "2026-12-01T08:00:00+05:30",
	} {
		if got, err := tool.Moment(text, berlin); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v; want %s", text, got.Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "tomorrow", "2026-13-01", "2026-12-01 08:00", "2026-12-01T08:00:00"} {
		if got, err := tool.Moment(text, berlin); err == nil || !strings.Contains(err.Error(), "write a date (2026-12-01)") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestValidScheduleName(t *testing.T) {
	for name, want := range map[string]bool{
		"nightly": true, "a#2": true, "a#12": true, "a#": false, "a#0": false, "a#02": false, "a#x": false, "a#1#2": false, "#1": false, "": false, "a b": false,
	} {
		if tool.ValidScheduleName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}

// TestScheduleTitles: schedules without a name are counted, so that each has one.
func TestScheduleTitles(t *testing.T) {
	def, found := decode.File("a.yaml", []byte("name: a\ndescription: d\nbash: 'true'\nschedule:\n  - every: 1h\n  - every: 2h\n  - {name: late, every: 3h}\n"))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a", "a#2", "late"} {
		if got := def.ScheduleName(i); got != want {
			t.Errorf("schedule %d is called %q, want %q", i, got, want)
		}
	}
}

// TestRename: a word is replaced where it stands, and nowhere else.
func TestRename(t *testing.T) {
	src := "\ufeffname: a\r\ndescription: d\r\nbsh: echo {NMAE}\r\nparameters:\r\n  NAME: {type: string}\r\n"
	def, _ := decode.File("a.yaml", []byte(src))
	at := func(word string) tool.Pos {
		return diagnostic.PosAt("a.yaml", []byte(src), strings.Index(src, word))
	}
	edits := def.Rename(at("bsh"), "bsh", "bash")
	got, ok := diagnostic.Apply([]byte(src), edits)
	if want := strings.Replace(src, "bsh", "bash", 1); !ok || string(got) != want {
		t.Errorf("%v: %q", edits, got)
	}
	for name, edits := range map[string][]tool.Edit{
		"another word":   def.Rename(at("bsh"), "sh", "x"),
		"no word":        def.Rename(at("bsh"), "", "x"),
		"another file":   def.Rename(tool.Pos{File: "b.yaml", Line: 3, Col: 1}, "bsh", "x"),
		"no place":       def.Rename(tool.Pos{File: "a.yaml"}, "bsh", "x"),
		"beyond the end": tool.Text{S: "abc"}.Rename(2, "cd", "x"),
		"made in Go":     tool.Text{S: "abc"}.Rename(0, "abc", "x"),
	} {
		if len(edits) > 0 {
			t.Errorf("%s: %v", name, edits)
		}
	}
	if _, ok := diagnostic.Apply([]byte("abc"), []tool.Edit{{From: 0, To: 2}, {From: 1, To: 3}}); ok {
		t.Error("edits that overlap were made")
	}
	if _, ok := diagnostic.Apply([]byte("abc"), []tool.Edit{{From: 2, To: 4}}); ok {
		t.Error("an edit beyond the end was made")
	}
}
