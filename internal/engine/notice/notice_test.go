package notice

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// A recorded notice has the keys that programs read, and not whether somebody has seen it.
func TestJSON(t *testing.T) {
	for want, n := range map[string]Notice{
		`{"code":"not-cached","step":"build","message":"too large"}`: {Code: NotCached, Step: "build", Message: "too large", Announced: true},
		`{"code":"escaped","message":"still running"}`:               {Code: Escaped, Message: "still running"},
	} {
		if got, err := json.Marshal(n); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}

// Every code has a kind with a meaning, and the kinds are in order.
func TestKinds(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "notice.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var codes, known []string
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
			for _, s := range g.Specs {
				if v, ok := s.(*ast.ValueSpec).Values[0].(*ast.BasicLit); ok && v.Kind == token.STRING {
					codes = append(codes, strings.Trim(v.Value, `"`))
				}
			}
		}
	}
	for _, k := range Kinds() {
		known = append(known, k.Code)
		if k.Meaning == "" || KindOf(k.Code) != k {
			t.Errorf("%+v", k)
		}
	}
	if slices.Sort(codes); !slices.Equal(codes, known) {
		t.Errorf("the codes are %q, those with a kind %q", codes, known)
	}
	if k := KindOf("later"); k != (Kind{Code: "later"}) {
		t.Errorf("a code of another version: %+v", k)
	}
}

// What the status and the steps say already is not said again.
func TestBesideStatus(t *testing.T) {
	list := []Notice{{Code: CleanupFailed}, {Code: Tolerated}, {Code: Unset}}
	for status, want := range map[dag.Status]string{dag.Succeeded: "1 notice", dag.Failed: "2 notices", dag.Waiting: "2 notices"} {
		if got := Count(BesideStatus(status, list)); got != want {
			t.Errorf("%s: %s, want %s", status, got, want)
		}
	}
	if got := Count(nil); got != "" {
		t.Error(got)
	}
}

// A line is written once, and of many notices with one code only the first are written out.
func TestLines(t *testing.T) {
	var list []Notice
	var want []string
	for i := range maxLines + 3 {
		list = append(list, Notice{Code: NoInputs, Message: fmt.Sprint("step ", i)}, Notice{Code: Unset, Step: dag.ID(fmt.Sprint("s", i)), Message: "the same"})
		if i < maxLines {
			want = append(want, fmt.Sprint("step ", i))
		}
	}
	list = append(list, Notice{Code: "later", Message: "of another version"})
	want = append(slices.Insert(want, 1, "the same"), "and 3 more: "+KindOf(NoInputs).Meaning, "of another version")
	if got := Lines(list); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A model gets the notices that may have changed the result, and none about the machine.
func TestForModel(t *testing.T) {
	got := ForModel([]Notice{{Code: Unenforced}, {Code: Withheld}, {Code: "later"}, {Code: CleanupFailed}})
	if len(got) != 2 || got[0].Code != Withheld || got[1].Code != CleanupFailed {
		t.Errorf("%+v", got)
	}
}
