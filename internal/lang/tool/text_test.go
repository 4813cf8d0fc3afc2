package tool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// TestTextAt reads a file in which every way to write a string occurs, and
// demands that the place of each character of the content leads back to that
// character in the file.
func TestTextAt(t *testing.T) {
	src := "name: t\r\n" + strings.ReplaceAll(`description: d
steps:
  - name: plain
    bash: echo héllo {A}
  - name: plain-lines
    bash: echo one
      two   three

      four
  - name: single
    bash: 'it''s {A} ''x'''
  - name: single-lines
    bash: 'one
      two''s


      three'
  - name: double
    bash: "a\tb \"q\" \u00e9\x41\U0001F600 {A} é"
  - name: double-lines
    bash: "one \
      two
      three\n

      four\
      \ five"
  - name: literal
    bash: |
      for x in *; do

        echo "$x" {A}
      done
  - name: literal-leading
    bash: |2

        indented ü
      less
  - name: literal-keep
    bash: |+  # a comment
      one

  - name: folded
    bash: >
      one
      two

      three
        more
        more still

      four
      five
  - name: folded-strip
    bash: >-

      one
      two ü three
      four
  - bash: |
      first key
    name: dash
  - name: anchored
    bash: &a !!str "q {A}"
  - name: aliased
    bash: *a
  - {name: flow, bash: 'x {A}', input: "é {A}"}
`, "\n", "\r\n")
	def, found := DecodeDocument("t.yaml", []byte(src))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	if len(def.Steps) != 15 {
		t.Fatalf("%d steps", len(def.Steps))
	}
	s := diagnostic.NewSource("t.yaml", []byte(src))
	for _, step := range def.Steps {
		t.Run(step.Name, func(t *testing.T) { checkText(t, s, step.Command()) })
	}
	checkText(t, s, *def.Steps[14].Input)
}

// checkText compares each visible character with the one at its place.
func checkText(t *testing.T, s *diagnostic.Source, text Text) {
	t.Helper()
	if at := text.At(0); at != text.Pos && !strings.HasPrefix(text.S, " ") && !strings.HasPrefix(text.S, "\n") {
		t.Errorf("%q begins at %v, but At(0) is %v", text.S, text.Pos, at)
	}
	escapes := map[string]bool{"\t": true, "\n": true, "é": true, "A": true, "😀": true}
	for off, c := range text.S {
		at := text.At(off)
		got := "end of line"
		if runes := []rune(string(s.Line(at.Line))); at.Col <= len(runes) {
			got = string(runes[at.Col-1])
		}
		want := string(c)
		switch {
		case got == want:
		case c == '\n' || c == ' ': // a fold: somewhere in spaces
			if got != "end of line" && strings.TrimSpace(got) != "" && got != `\` {
				t.Errorf("%q: offset %d at %v shows %q", text.S, off, at, got)
			}
		case got == `\` && (escapes[want] || c == '"'):
		default:
			t.Errorf("%q: offset %d (%q) at %v shows %q", text.S, off, want, at, got)
		}
	}
}

// TestRepairedTextAt: a value that was repaired still leads to its own file.
func TestRepairedTextAt(t *testing.T) {
	src := "name: t\ndescription: d\nbash: echo 'it''s': {A} é {B}\n"
	def, found := DecodeDocument("t.yaml", []byte(src))
	if err := found.Err(); err != nil || len(def.Steps) != 1 {
		t.Fatal(found)
	}
	text := def.Steps[0].Command()
	if want := "echo 'it''s': {A} é {B}"; text.S != want {
		t.Fatalf("got %q, want %q", text.S, want)
	}
	if got, want := text.At(strings.Index(text.S, "{B}")), (Pos{File: "t.yaml", Line: 3, Col: 27}); got != want {
		t.Errorf("{B} at %v, want %v", got, want)
	}
}

func ExampleText_At() {
	src := "name: greet\ndescription: Greets\nbash: |\n  echo hello\n  echo {WHO}\n"
	def, _ := DecodeDocument("greet.yaml", []byte(src))
	command := def.Steps[0].Command()
	fmt.Println(command.At(strings.Index(command.S, "{WHO}")))
	// Output: greet.yaml:5:8
}
