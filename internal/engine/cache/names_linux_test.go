package cache

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamesOfBytes checks that outputs are stored and restored under their names, also if these are not UTF-8, and that the
// components of a result keep theirs.
func TestNamesOfBytes(t *testing.T) {
	names := map[string]string{"caf\xe9": "1", "\xff": "2", "\xfe": "3", "\xed\xa0\x80": "4", "100%FF": "5", "😀": "6", "a\r\nb": "7", "\xff.d/\xff": "8", "l": "->\xff", "l\xff": "->\xfe"}
	s, dir := open(t), t.TempDir()
	write(t, dir, map[string]string{"out/gone\xff": "", "out/gone\xfe": "", "out/stays\xff": ""})
	d := draft(s, dir)
	var err error
	if d.Before, err = TakeSnapshot(context.Background(), dir, d.Outputs); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "out/gone\xff"))
	os.Remove(filepath.Join(dir, "out/gone\xfe"))
	for name, text := range names {
		write(t, dir, map[string]string{"out/" + name: text})
		d.Components = append(d.Components, s.Component(Input, "out/"+name, text))
	}
	st := s.Step("step")
	if err := st.Keep(context.Background(), d); err != nil {
		t.Fatal(err)
	}
	e, err := st.Find(s.Key(d.Components))
	if err != nil {
		t.Fatal(err)
	}
	if found := Diff(e.Components, d.Components); len(found) > 0 {
		t.Errorf("components differ: %q", found)
	}
	os.RemoveAll(filepath.Join(dir, "out"))
	write(t, dir, map[string]string{"out/gone\xff": "", "out/gone\xfe": "", "out/gone\ufffd": ""})
	if err := e.Restore(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range names {
		if got := contentOf(filepath.Join(dir, "out", name)); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "out", "gone*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "gone\ufffd" {
		t.Errorf("there are %q, %v", left, err)
	}
}

// TestInputsOfBytes checks that files are inputs under their names, also below folders whose names are not UTF-8.
func TestInputsOfBytes(t *testing.T) {
	s, dir := open(t), t.TempDir()
	write(t, dir, map[string]string{"\xff.d/\xff": "1", "\xff.d/\xfe": "1", "\xff.d/sub/a": "2"})
	names := func(patterns ...string) (list []string) {
		found, err := s.Inputs(context.Background(), dir, patterns, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range found {
			list = append(list, c.Name)
		}
		return list
	}
	if diff := cmp.Diff([]string{"\xff.d/sub/a", "\xff.d/\xfe", "\xff.d/\xff"}, names("**/*")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"\xff.d/\xff"}, names("\xff.d/\xff")); diff != "" {
		t.Error(diff)
	}
}

// contentOf returns the text of a file, or -> and the target of a link, "" if it cannot be read.
func contentOf(file string) string {
	if target, err := os.Readlink(file); err == nil {
		return "->" + target
	}
	text, _ := os.ReadFile(file)
	return string(text)
}
