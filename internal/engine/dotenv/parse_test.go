package dotenv_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/dotenv"
)

func outer(name string) (string, bool) {
	v, ok := map[string]string{"HOST": "example.org", "EMPTY": ""}[name]
	return v, ok
}

// TestParse checks the rules one by one.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []dotenv.Var
	}{
		"nothing":                 {"", nil},
		"plain":                   {"A=b", []dotenv.Var{{"A", "b"}}},
		"empty":                   {"A=\nB=\"\"\nC=''\nD= ", []dotenv.Var{{"A", ""}, {"B", ""}, {"C", ""}, {"D", ""}}},
		"blanks":                  {"  A = b c \t\n\tB=\t'd' ", []dotenv.Var{{"A", "b c"}, {"B", "d"}}},
		"export":                  {"export A=1\nexport\tB=2\nexport = 3\nexported=4", []dotenv.Var{{"A", "1"}, {"B", "2"}, {"export", "3"}, {"exported", "4"}}},
		"comments":                {"# a\n  # b\nA=1 # c\nB=1# no\nC=#no\nD= # c\nE='1' # c\nF=\"1\"\t# c", []dotenv.Var{{"A", "1"}, {"B", "1# no"}, {"C", "#no"}, {"D", ""}, {"E", "1"}, {"F", "1"}}},
		"equals signs":            {"A=b=c==", []dotenv.Var{{"A", "b=c=="}}},
		"single quotes":           {`A='$HOST ${HOST} \n \\ "x" # y'` + "\nB='it\\'s'", []dotenv.Var{{"A", `$HOST ${HOST} \n \\ "x" # y`}, {"B", "it's"}}},
		"double quotes":           {`A="\n\t\r\"\\\$ \d 'x' # y"`, []dotenv.Var{{"A", "\n\t\r\"\\$ \\d 'x' # y"}}},
		"quotes inside":           {`A=say "hi"` + "\nB=it's", []dotenv.Var{{"A", `say "hi"`}, {"B", "it's"}}},
		"several lines":           {"A=\"one\ntwo\"\nB='three\n four'\nC=5", []dotenv.Var{{"A", "one\ntwo"}, {"B", "three\n four"}, {"C", "5"}}},
		"several lines, windows":  {"A=\"one\r\ntwo\"\r\nB=3\r\n\r\n# c\r\nC='4'\r\n", []dotenv.Var{{"A", "one\ntwo"}, {"B", "3"}, {"C", "4"}}},
		"last line, windows":      {"A=1\r", []dotenv.Var{{"A", "1"}}},
		"byte order mark":         {"\ufeffA=1", []dotenv.Var{{"A", "1"}}},
		"expansion":               {"A=1\nB=$A-${A}b-$HOST$EMPTY.\nC=\"${B}/$A\"", []dotenv.Var{{"A", "1"}, {"B", "1-1b-example.org."}, {"C", "1-1b-example.org./1"}}},
		"own before outer":        {"HOST=here\nA=$HOST", []dotenv.Var{{"HOST", "here"}, {"A", "here"}}},
		"outer before own":        {"HOST=$HOST:80", []dotenv.Var{{"HOST", "example.org:80"}}},
		"dollars":                 {`A=$ $1 $(date) 5$` + "\nB=\"$\"", []dotenv.Var{{"A", "$ $1 $(date) 5$"}, {"B", "$"}}},
		"a comment ends a dollar": {"A=1 $ # x", []dotenv.Var{{"A", "1 $"}}},
		"values are not read on":  {"A='$HOST'\nB=$A", []dotenv.Var{{"A", "$HOST"}, {"B", "$HOST"}}},
		"other bytes":             {"A=\xff\xfe ü", []dotenv.Var{{"A", "\xff\xfe ü"}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, problems := dotenv.Parse("f", c.text, outer)
			if diff := cmp.Diff(c.want, got); diff != "" || len(problems) > 0 {
				t.Errorf("%v\n%s", problems, diff)
			}
		})
	}
}

// TestProblems checks that all problems are reported, each at its location and without a
// value.
func TestProblems(t *testing.T) {
	const text = `A=1
2B=canary
 no canary
=canary
C
export D # x
E="a" canary
F='canary
ü="x"
G=ü ${G:-canary}
A=2
H="x
  $NONE"
MIICcanary+/=
`
	const want = `f:3:2: expected NAME=VALUE; names contain letters, digits and '_' and do not start with a digit, and values of several lines are quoted`
	vars, problems := dotenv.Parse("f", text, outer)
	var places []string
	for _, p := range problems {
		word := "error"
		if p.Warning {
			word = "warning"
		}
		places = append(places, strings.Join(strings.SplitN(p.String(), ":", 4)[1:3], ":")+" "+word)
		if strings.Contains(p.String(), "canary") {
			t.Errorf("%s shows a value", p)
		}
	}
	if diff := cmp.Diff([]string{"2:1 error", "3:2 error", "4:1 error", "5:1 error", "6:8 error", "7:7 error", "8:3 error", "9:1 error",
		"10:5 error", "11:1 warning", "13:3 warning", "14:1 error"}, places); diff != "" {
		t.Errorf("%v\n%s", problems, diff)
	}
	if problems[1].String() != want {
		t.Errorf("%q", problems[1])
	}
	if len(problems.Warnings()) != 2 || problems.Err() == nil || strings.Count(problems.Err().Error(), "\n") != 9 {
		t.Errorf("warnings %v, errors %v", problems.Warnings(), problems.Err())
	}
	if v := vars[0]; v != (dotenv.Var{Name: "A", Value: "2"}) {
		t.Errorf("the last one does not count: %v", v)
	}
}

// TestHostile checks that binary data and values that grow end soon and with a problem.
func TestHostile(t *testing.T) {
	grows := "A=" + strings.Repeat("x", 1000) + "\n"
	for i := range 25 {
		name := string(rune('A' + i))
		grows += string(rune('A'+i+1)) + "=$" + name + "$" + name + "\n"
	}
	for name, text := range map[string]string{
		"NUL":         "A=a\x00b",
		"UTF-16":      "\xff\xfeA\x00=\x00b\x00",
		"grows":       grows,
		"no variable": strings.Repeat("x\n", 1<<19),
	} {
		if _, problems := dotenv.Parse("f", text, nil); problems.Err() == nil || len(problems) > 100 {
			t.Errorf("%s: %d problems", name, len(problems))
		}
	}
}
