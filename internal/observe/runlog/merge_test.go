package runlog_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/runlog"
	"github.com/flowrun/flowrun/internal/test/proptest"
)

const epoch = 1764466000000 // ms

func clock(ms int64) time.Time { return time.UnixMilli(epoch + ms) }

// began and over are the events of a step. An output is TEXT or TEXT@TIMES, where TIMES are marks of it: o5+3 for the epoch and
// 5 ms.
func began(step string, ms int64) dag.Event {
	return dag.Event{Kind: dag.StepStarted, Node: dag.ID(step), Time: clock(ms)}
}

func over(step string, ms int64, stdout, stderr string) dag.Event {
	output := func(s string) *dag.Output {
		if s == "" {
			return nil
		}
		text, marks, _ := strings.Cut(s, "@")
		o := whole(text)
		for i, m := range strings.Fields(marks) {
			if m[0] <= '9' {
				m = marks[:1] + m
			}
			if i == 0 {
				at, more, _ := strings.Cut(m[1:], "+")
				var ms int64
				fmt.Sscan(at, &ms)
				m = fmt.Sprintf("%c%d+%s", m[0], epoch+ms, more)
			}
			o.Times += m + "\n"
		}
		return o
	}
	return dag.Event{Kind: dag.StepFinished, Node: dag.ID(step), Time: clock(ms), Result: &dag.Result{Status: dag.Succeeded, Attempts: 1,
		Stdout: output(stdout), Stderr: output(stderr), Ended: clock(ms)}}
}

// lines returns the merged lines as TIME:STEP:STREAM:TEXT, with ? for a time that is not known.
func lines(t *testing.T, logs string, events []dag.Event, sel runlog.Selection, x *runlog.MergedIndex) string {
	t.Helper()
	run, err := runlog.ReadRun(logs, nil, events)
	if err != nil {
		t.Fatal(err)
	}
	m, err := run.Merge(sel, x)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	page, settled, err := m.ReadPage(context.Background(), 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for i, text := range page.Lines {
		if int64(i) == settled {
			list = append(list, "|")
		}
		o, at := m.Origin(page.At[i]), "?"
		if !o.Time.IsZero() {
			at = fmt.Sprint(o.Time.UnixMilli() - epoch)
		}
		list = append(list, fmt.Sprintf("%s:%s:%c:%s", at, o.Step, "oe"[o.Stream], text))
	}
	return strings.Join(list, " ")
}

// TestMerge: lines are in the order in which they were printed, as far as it is known.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	future := time.Now().Add(time.Hour).UnixMilli() - epoch
	for name, c := range map[string]struct {
		files  string // names and contents; \n is written ;
		events []dag.Event
		live   bool
		want   string // | stands before what may still move
	}{
		"quick":                 {"", []dag.Event{began("a", 0), over("a", 100, "x;y;", "z;")}, false, "100:a:o:x 100:a:o:y 100:a:e:z"},
		"not known":             {"", []dag.Event{began("a", 0), over("a", 9000, "x;", "z;")}, false, "?:a:o:x ?:a:e:z"},
		"in turn":               {"", []dag.Event{began("a", 0), over("a", 9000, "x;y;@o10+2 20+2", "z;@e20+2")}, false, "10:a:o:x 20:a:e:z 30:a:o:y"},
		"within a line":         {"", []dag.Event{began("a", 0), over("a", 9000, "xx;y;@o10+1 20+4", "z;@e20+2")}, false, "10:a:o:xx 20:a:e:z 30:a:o:y"},
		"no line break":         {"", []dag.Event{began("a", 0), over("a", 9000, "x@o10+1", "z@e20+1")}, false, "10:a:o:x 20:a:e:z"},
		"after the marks":       {"", []dag.Event{began("a", 0), over("a", 9000, "x;y;@o10+2", "")}, false, "10:a:o:x ?:a:o:y"},
		"more marks than bytes": {"", []dag.Event{began("a", 0), over("a", 9000, "x;@o10+2 10+99", "")}, false, "10:a:o:x"},
		"two steps": {"", []dag.Event{began("a", 0), began("b", 0), over("b", 9000, "p;q;@o15+2 20+2", ""), over("a", 9100, "x;y;@o10+2 20+2", "")}, false,
			"10:a:o:x 15:b:o:p 30:a:o:y 35:b:o:q"},
		"a step without times among others": {"", []dag.Event{began("a", 0), over("a", 9000, "x;", ""), began("b", 9001), over("b", 9100, "y;", "")}, false, "?:a:o:x 9100:b:o:y"},
		"in files": {"a.out=x;y; a.err=z; a.times=Oa.out;o{10}+2;Ea.err;e10+2;o10+2;", []dag.Event{began("a", 0), {Kind: dag.StepFinished, Node: "a", Time: clock(9000), Result: &dag.Result{Attempts: 1,
			Stdout: &dag.Output{File: "a.out", Size: 4}, Stderr: &dag.Output{File: "a.err", Size: 2}}}}, false, "10:a:o:x 20:a:e:z 30:a:o:y"},
		"damaged times": {"a.out=x;y; a.times=Oa.out;o{10}+2;o-4+;o10+2;", []dag.Event{began("a", 0), {Kind: dag.StepFinished, Node: "a", Time: clock(9000), Result: &dag.Result{Attempts: 1,
			Stdout: &dag.Output{File: "a.out", Size: 4}}}}, false, "10:a:o:x ?:a:o:y"},
		"running":               {"a.out=x;y;half a.err=z; a.times=Oa.out;o{10}+2;Ea.err;e10+2;", []dag.Event{began("a", 0)}, true, "10:a:o:x 20:a:e:z | ?:a:o:y ?:a:o:half"},
		"running, printed now":  {"a.out=x;y; a.times=Oa.out;o{10}+2;o" + fmt.Sprint(future) + "+2;", []dag.Event{began("a", 0)}, true, fmt.Sprintf("10:a:o:x | %d:a:o:y", future+10)},
		"running without times": {"a.out=x;", []dag.Event{began("a", 0)}, true, "| ?:a:o:x"},
	} {
		t.Run(name, func(t *testing.T) {
			logs := filepath.Join(dir, strings.NewReplacer(" ", "-", ",", "").Replace(name))
			os.Mkdir(logs, 0o700)
			for _, f := range strings.Fields(c.files) {
				file, text, _ := strings.Cut(f, "=")
				write(t, logs, file, strings.NewReplacer(";", "\n", "{10}", fmt.Sprint(epoch+10)).Replace(text))
			}
			for _, e := range c.events {
				if e.Result != nil {
					for _, o := range []*dag.Output{e.Result.Stdout, e.Result.Stderr} {
						if o != nil {
							o.Inline = strings.ReplaceAll(o.Inline, ";", "\n")
						}
					}
				}
			}
			if got := lines(t, logs, c.events, runlog.Selection{Live: c.live}, nil); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestMergeLosesNothing: whatever steps print and whatever the marks say, the merged log has each line of each stream once and
// in the order of its stream, and so has what a reader gets that follows the run.
func TestMergeLosesNothing(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		logs, err := os.MkdirTemp("", "merge-*")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(logs)
		var events []dag.Event
		printed := map[string]string{} // by step and stream
		var x runlog.MergedIndex
		r := runlog.New(logs, nil, "")
		followed := map[string]string{}
		follow := func(live bool) {
			err := r.CopyLines(events, live, func(o runlog.Origin, line []byte) error {
				followed[fmt.Sprint(o.Step, o.Stream)] += string(line) + "\n"
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var texts [2]string
			for i, index := range []*runlog.MergedIndex{&x, nil} { // what is remembered changes nothing
				run, err := runlog.ReadRun(logs, nil, events)
				if err != nil {
					t.Fatal(err)
				}
				m, err := run.Merge(runlog.Selection{Live: live}, index)
				if err != nil {
					t.Fatal(err)
				}
				page, settled, err := m.ReadPage(context.Background(), 1, 1000)
				m.Close()
				if err != nil {
					t.Fatal(err)
				}
				texts[i] = fmt.Sprint(settled, page.Total, page.Open, page.At, page.Lines)
			}
			if texts[0] != texts[1] {
				t.Fatalf("%s\nwant %s", texts[0], texts[1])
			}
		}
		for s := range rapid.IntRange(1, 3).Draw(t, "steps") {
			step := fmt.Sprintf("s%d", s)
			events = append(events, began(step, 0))
			follow(true)
			res := &dag.Result{Status: dag.Succeeded, Attempts: 1}
			marks := "O" + step + ".out\nE" + step + ".err\n"
			for i, out := range []**dag.Output{&res.Stdout, &res.Stderr} {
				text := rapid.StringMatching(`[xy\n]{0,40}`).Draw(t, "text")
				if text == "" {
					continue
				}
				printed[step+fmt.Sprint(i)] = text
				*out = whole(text)
				times := rapid.SampledFrom([]string{"", "o1764466000000+3\no7+5\no1+9\n", "e1764466000003+2\ne9+1\n", "o5+1\ne1+1\no+\n", "e99999999999999+80\n"}).Draw(t, "times")
				if rapid.Bool().Draw(t, "in a file") {
					name := step + []string{".out", ".err"}[i]
					half := rapid.IntRange(0, len(text)).Draw(t, "half")
					os.WriteFile(filepath.Join(logs, name), []byte(text[:half]), 0o600)
					follow(true)
					os.WriteFile(filepath.Join(logs, name), []byte(text), 0o600)
					(*out).Inline, (*out).File = "", name
					marks += times
				} else {
					(*out).Times = times
				}
			}
			if rapid.Bool().Draw(t, "with times") {
				os.WriteFile(filepath.Join(logs, step+".times"), []byte(marks), 0o600)
			}
			follow(true)
			events = append(events, dag.Event{Kind: dag.StepFinished, Node: dag.ID(step), Time: clock(rapid.Int64Range(0, 5000).Draw(t, "end")), Result: res})
			follow(true)
		}
		follow(false)
		got := map[string]string{}
		run, err := runlog.ReadRun(logs, nil, events)
		if err != nil {
			t.Fatal(err)
		}
		m, err := run.Merge(runlog.Selection{}, &x)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		page, settled, err := m.ReadPage(context.Background(), 1, 5000)
		if err != nil || settled != page.Total || int64(len(page.Lines)) != page.Total {
			t.Fatal(settled, page, err)
		}
		last := int64(0)
		for i, text := range page.Lines {
			o := m.Origin(page.At[i])
			got[fmt.Sprint(o.Step, o.Stream)] += text + "\n"
			if !o.Time.IsZero() && o.Time.UnixMilli() < last {
				t.Fatalf("line %d is earlier than the one before", i+1)
			} else if !o.Time.IsZero() {
				last = o.Time.UnixMilli()
			}
		}
		for key, text := range printed {
			want := strings.TrimSuffix(text, "\n") + "\n"
			if got[key] != want {
				t.Fatalf("merged %s: %q, want %q", key, got[key], want)
			}
			if followed[key] != want {
				t.Fatalf("followed %s: %q, want %q", key, followed[key], want)
			}
		}
		text, err := io.ReadAll(io.NewSectionReader(m, 0, m.Size()))
		if err != nil || strings.TrimSuffix(string(text), "\n") != strings.Join(page.Lines, "\n") && len(page.Lines) > 0 {
			t.Fatalf("%q, %v; the page has %q", text, err, page.Lines)
		}
		small := make([]byte, 3)
		for at := int64(0); at < m.Size(); at++ { // at every place
			n, err := m.ReadAt(small, at)
			if err != nil && err != io.EOF || !bytes.Equal(small[:n], text[at:min(at+3, m.Size())]) {
				t.Fatalf("at %d: %q, %v", at, small[:n], err)
			}
		}
	})
}

// TestMergedIndex: the lines of a log that grows are counted anew only where it has grown, and are right when lines move.
func TestMergedIndex(t *testing.T) {
	logs := t.TempDir()
	events := []dag.Event{began("a", 0)}
	var x, fresh runlog.MergedIndex
	check := func() {
		t.Helper()
		sel := runlog.Selection{Live: true}
		if got, want := lines(t, logs, events, sel, &x), lines(t, logs, events, sel, &fresh); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		fresh = runlog.MergedIndex{}
	}
	check()
	write(t, logs, "a.times", fmt.Sprintf("Oa.out\no%d+2\n", epoch))
	write(t, logs, "a.out", "1\n2\n3")
	check()
	write(t, logs, "a.err", "e1\ne2\n")
	check()
	write(t, logs, "a.times", "Ea.err\ne5+3\no5+2\n")
	check()
	write(t, logs, "a.out", " and\n4\n")
	check()
	events = append(events, began("b", 1))
	write(t, logs, "b.out", "b\n")
	write(t, logs, "b.times", fmt.Sprintf("Ob.out\no%d+2\n", epoch-50)) // before all others
	check()
	if got := lines(t, logs, events, runlog.Selection{Stream: rundir.Stderr, One: true}, nil); got != "5:a:e:e1 ?:a:e:e2" {
		t.Error(got)
	}
}

// TestLargeMerge: a page and a search of a large log with two streams read it once.
func TestLargeMerge(t *testing.T) {
	logs := t.TempDir()
	const n = 200_000
	var out, errs bytes.Buffer
	times := bytes.NewBufferString(fmt.Sprintf("Oa.out\nEa.err\no%d+1\n", epoch))
	for i := range n {
		fmt.Fprintf(&out, "line %d\n", i)
		if i%100 == 0 {
			fmt.Fprintf(&errs, "error %d\n", i)
			fmt.Fprintf(times, "o5+%d\ne1+%d\n", 1, len(fmt.Sprintf("error %d\n", i)))
		}
	}
	write(t, logs, "a.out", out.String())
	write(t, logs, "a.err", errs.String())
	write(t, logs, "a.times", times.String())
	events := []dag.Event{began("a", 0), {Kind: dag.StepFinished, Node: "a", Time: clock(99000), Result: &dag.Result{Attempts: 1,
		Stdout: &dag.Output{File: "a.out", Size: int64(out.Len())}, Stderr: &dag.Output{File: "a.err", Size: int64(errs.Len())}}}}
	run, err := runlog.ReadRun(logs, nil, events)
	if err != nil {
		t.Fatal(err)
	}
	m, err := run.Merge(runlog.Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	page, _, err := m.ReadPage(context.Background(), 0, 1)
	if err != nil || page.Total != n+n/100 || page.Lines[0] != "line 199999" {
		t.Fatal(page, err)
	}
	found, next, err := m.Search(context.Background(), "ERROR 77700", 1, 10)
	if err != nil || next != 0 || len(found) != 1 || m.Origin(found[0].At).Stream != rundir.Stderr {
		t.Fatal(found, next, err)
	}
	page, _, err = m.ReadPage(context.Background(), found[0].Line, 1)
	if err != nil || page.Lines[0] != "error 77700" {
		t.Fatal(page, err)
	}
	if !sort.SliceIsSorted(page.At, func(i, j int) bool { return page.At[i] < page.At[j] }) {
		t.Error(page.At)
	}
}
