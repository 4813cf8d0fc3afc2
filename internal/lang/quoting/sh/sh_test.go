package sh_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/lang/quoting/sh"
)

// pieces finds the placeholders {X}, {Y} and {N} of a script. The value of N is a number.
func pieces(script string) (list []quoting.Piece) {
	from := 0
	for _, m := range regexp.MustCompile(`\{[XYN]\}`).FindAllStringIndex(script, -1) {
		name := script[m[0]+1 : m[1]-1]
		list = append(list, quoting.Piece{Text: script[from:m[0]]}, quoting.Piece{Placeholder: &quoting.Placeholder{
			Off: m[0], Written: script[m[0]:m[1]], Name: name, MayHoldText: name != "N", Untrusted: name != "N"}})
		from = m[1]
	}
	return append(list, quoting.Piece{Text: script[from:]})
}

var (
	forms  = [...]string{"unknown", "word", "single", "inner", "quoted", "number", "comment"}
	guards = [...]string{"", " number", " name", " scalar", " option", " program"}
	kinds  = [...]string{"misplaced", "code", "calculated"}
)

// TestRead finds the form, the guard and the problems of the placeholders of scripts.
func TestRead(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`echo {X}`, "word"},
		{`echo "a {X}"`, "inner"},
		{`echo 'a {X}'`, "quoted"},
		{`v={X}`, "single"},
		{`echo # {X}`, "comment"},
		{`echo $(({N} + 1))`, "number number"},
		{`case {X} in a) ;; esac`, "single"},
		{`[[ {X} == a ]]`, "single"},
		{`[[ {X} -eq 1 ]]`, "single number"},
		{`[[ -v {X} ]]`, "single name"},
		{`read {X}`, "single name"},
		{`export {X}`, "single name"},
		{`declare v={X}`, "single scalar"},
		{`printf {X}`, "word option"},
		{`{X} {Y}`, "word program, word program"},
		{"cat <<END\n{X}\nEND", "inner"},
		{"cat <<'END'\n{X}\nEND", "inner, misplaced"},
		{`eval {X}`, "word, misplaced"},
		{"echo `ls {X}`", "word, misplaced"},
		{`echo $'{X}'`, "quoted, misplaced"},
		{`echo \{X}`, "word, misplaced"},
		{`sh -c "ls {X}"`, "inner, code"},
		{`v={X}; eval "$v"`, "single, code"},
		{`v={X}; echo $((v))`, "single, calculated"},
		{`PATH={X} ls`, "single, code, misplaced"},
	} {
		list := pieces(c.script)
		problems, err := sh.Read(c.script, false, list)
		if err != nil {
			t.Errorf("%s: %s", c.script, err.Message)
			continue
		}
		var got []string
		for _, p := range list {
			if p.Placeholder != nil {
				got = append(got, forms[p.Placeholder.Place.Form]+guards[p.Placeholder.Place.Guard])
			}
		}
		for _, p := range problems {
			got = append(got, kinds[p.Kind])
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.script, text, c.want)
		}
	}
}

// TestBothShells: a script for sh must be safe in bash too.
func TestBothShells(t *testing.T) {
	for script, want := range map[string]int{`echo {X}`: 0, `echo $'{X}'`: 1, `[[ {N} -eq 1 ]]`: 0} {
		if problems, err := sh.Read(script, true, pieces(script)); err != nil || len(problems) != want {
			t.Errorf("%s: %v %v", script, problems, err)
		}
	}
}

// TestSyntaxErrors: the error names the placeholder as it is written, and its place in the script.
func TestSyntaxErrors(t *testing.T) {
	script := `echo {X}; if {X}; fi`
	_, err := sh.Read(script, true, pieces(script))
	if err == nil || !strings.HasPrefix(err.Message, "sh syntax error: ") || strings.Contains(err.Message, "_flowrun") || err.Off < 10 || err.Runs {
		t.Errorf("%+v", err)
	}
	for script, want := range map[string]string{"echo": "", "if": "syntax error", "cat <<END\n": "here-document", "[[ a ]]": ""} {
		err := sh.Check(script, true, pieces(script))
		if want == "" != (err == nil) || err != nil && (!strings.Contains(err.Message, want) || err.Runs != (want == "here-document")) {
			t.Errorf("%s: %+v", script, err)
		}
	}
}

func TestEvaluates(t *testing.T) {
	if !sh.Evaluates("eval") || sh.Evaluates("ls") {
		t.Error("eval reads its arguments as code, ls does not")
	}
}
