package logtimes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/test/proptest"
)

const epoch = 1764466000000 // ms

// look is what a Recorder sees: at a time, the size and the last change of stdout and stderr. Times are ms after the epoch.
type look struct{ at, out, outChanged, err, errChanged int64 }

func clock(ms int64) time.Time { return time.UnixMilli(epoch + ms) }

func add(r *Recorder, l look) {
	r.Add(clock(l.at), [2]State{{l.out, clock(l.outChanged)}, {l.err, clock(l.errChanged)}})
}

func text(marks []Mark) string {
	var b strings.Builder
	for _, m := range marks {
		fmt.Fprintf(&b, "%c%d:%d ", "oe"[m.Stream], m.At-epoch, m.Size)
	}
	return strings.TrimSpace(b.String())
}

// TestRecorder shows the marks that follow from what was seen of the log files.
func TestRecorder(t *testing.T) {
	for name, c := range map[string]struct {
		looks []look
		want  string // all marks
		short string // those of both outputs, or nothing
	}{
		"nothing":                {[]look{{at: 50}, {at: 5000}}, "", ""},
		"quick":                  {[]look{{200, 5, 190, 0, 0}}, "o190:5", ""},
		"quick, error first":     {[]look{{200, 5, 190, 7, 180}}, "e180:7 o190:5", "o190:5 e180:7"},
		"late in a long attempt": {[]look{{50, 0, 0, 0, 0}, {9000, 5, 8990, 0, 0}}, "o8990:5", "o8990:5"},
		"one window":             {[]look{{50, 5, 48, 0, 0}, {70, 9, 69, 0, 0}, {900, 9, 69, 0, 0}}, "o69:9", "o69:9"},
		"two windows":            {[]look{{50, 5, 48, 0, 0}, {170, 9, 169, 0, 0}, {900, 9, 169, 0, 0}}, "o48:5 o169:9", "o48:5 o169:9"},
		"streams in turn":        {[]look{{50, 5, 48, 0, 0}, {70, 5, 48, 3, 66}, {90, 9, 88, 3, 66}}, "o48:5 e66:3 o88:9", "o48:5 o88:9 e66:3"},
		"at the same time":       {[]look{{50, 5, 48, 3, 48}, {900, 5, 48, 3, 48}}, "o48:5 e49:3", "o48:5 e49:3"},
		"clock of a file ahead":  {[]look{{50, 5, 99999, 0, 0}, {900, 5, 99999, 0, 0}}, "o50:5", "o50:5"},
		"clock of a file behind": {[]look{{50, 5, 48, 0, 0}, {600, 8, -9999, 0, 0}, {900, 8, 0, 0, 0}}, "o50:8", "o50:8"},
		"emptied":                {[]look{{50, 5, 48, 0, 0}, {600, 2, 590, 0, 0}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var r Recorder
			r.Start(clock(0))
			for _, l := range c.looks {
				add(&r, l)
			}
			marks, _ := Parse(r.Text([2]string{"a.out", "a.err"}, true))
			if got := text(marks); got != c.want {
				t.Errorf("marks %q, want %q", got, c.want)
			}
			var short []string
			for _, s := range []rundir.Stream{rundir.Stdout, rundir.Stderr} {
				one, long := r.Short(s)
				if marks, _ := Parse([]byte(one)); len(marks) > 0 {
					short = append(short, text(marks))
				}
				if long {
					t.Error("long")
				}
			}
			if got := strings.Join(short, " "); got != c.short {
				t.Errorf("in the result %q, want %q", got, c.short)
			}
		})
	}
}

// TestText: the file of the times has every mark once, and waits for the names of the log files.
func TestText(t *testing.T) {
	var r Recorder
	r.Start(clock(0))
	add(&r, look{50, 5, 48, 0, 0})
	if got := r.Text([2]string{}, false); got != nil {
		t.Errorf("%q without a name", got)
	}
	file := string(r.Text([2]string{"a.out", ""}, false))
	add(&r, look{150, 9, 148, 3, 140})
	if got := r.Text([2]string{"a.out", ""}, false); got != nil {
		t.Errorf("%q without a name of stderr", got)
	}
	file += string(r.Text([2]string{"a.out", "a~2.err"}, false))
	file += string(r.Text([2]string{"a.out", "a~2.err"}, false))
	want := fmt.Sprintf("Oa.out\no%d+5\nEa~2.err\ne92+3\no8+4\n", epoch+48)
	if file != want {
		t.Errorf("%q, want %q", file, want)
	}
	if marks, files := Parse([]byte(file)); text(marks) != "o48:5 e140:3 o148:9" || files != [2]string{"a.out", "a~2.err"} {
		t.Error(text(marks), files)
	}
}

// TestBound: an attempt that prints without end has few marks for what it prints, and the result has them only if they are short.
func TestBound(t *testing.T) {
	var r Recorder
	r.Start(clock(0))
	size, last, at := int64(0), 0, int64(0)
	for day := int64(24 * 3600 * 1000); at < 10*day; at += r.Pause().Milliseconds() {
		size += 100
		add(&r, look{at, size, at, 0, 0})
		last += len(r.Text([2]string{"a.out", ""}, false))
	}
	if r.marks > coarse+10*24*60 || last > 10*r.marks {
		t.Errorf("%d marks, %d bytes", r.marks, last)
	}
	if short, long := r.Short(rundir.Stdout); short != "" || !long {
		t.Errorf("%q, %v", short, long)
	}
	if short, long := r.Short(rundir.Stderr); short != "" || long {
		t.Errorf("stderr: %q, %v", short, long)
	}
}

// TestMarksGrow: whatever is seen, times and sizes of the marks only grow, and the last ones have the whole log.
func TestMarksGrow(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		var r Recorder
		r.Start(clock(0))
		var l look
		var file []byte
		number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
		for range rapid.IntRange(1, 40).Draw(t, "looks") {
			l.at += number("later", 300)
			l.out, l.outChanged = l.out+number("out", 5), l.at-number("ago", 400)
			l.err, l.errChanged = l.err+number("err", 5), l.at-number("ago", 400)
			add(&r, l)
			file = append(file, r.Text([2]string{"o", "e"}, false)...)
		}
		marks, _ := Parse(append(file, r.Text([2]string{"o", "e"}, true)...))
		var size [2]int64
		at := int64(0)
		for _, m := range marks {
			if m.At <= at || m.Size <= size[m.Stream] {
				t.Fatalf("%s", text(marks))
			}
			at, size[m.Stream] = m.At, m.Size
		}
		if size != [2]int64{l.out, l.err} {
			t.Fatalf("%v, want %d and %d", size, l.out, l.err)
		}
	})
}

// FuzzParse: a damaged text gives marks that only grow, and is read as far as it is sound.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "Oa.out\no1764466000000+5\nEa.err\ne92+3\no8+4\n", "o1+1\no1+", "o-1+5\n", "o9223372036854775807+1\no1+1\n", "x\n\n", "o1+0\n", "O\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		marks, _ := Parse(b)
		var e encoder
		var size [2]int64
		at := int64(0)
		for _, m := range marks {
			if m.At <= at || m.Size <= size[m.Stream] {
				t.Fatalf("%+v", marks)
			}
			at, size[m.Stream] = m.At, m.Size
			e.append(nil, m)
		}
	})
}
