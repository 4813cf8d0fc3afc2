package expr_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// malformed are what may follow a name in braces that somebody meant as a placeholder, and code are what other languages
// write in braces. upper are those that are malformed after a name in capitals only.
var (
	malformed = strings.Split(`[index]~[i]~[index+1]~[-1]~[item]~["x y"]~['k']~[]~[0~[0:2]~[*]~[@]~[ 0 ]~[00]~[a].exit-code~[{N}]~.~..x~.x.~.x y~.json[index]~.json["x y"]~`+
		`.json[-1].name~.json.x | length~.x.upper()~[0] + 1~]~:~:-none~:=none~:+x~:?~: trim~:trim |x~:trim, x~:.2f~:>8.1f~:05d~ | length~|upper~ |join(',')~`+
		` | default('x')~+1~ + 1~ - 1~-1~*2~ / 2~ % 2~ - N~/a/b~..5~ == 'a'~ != 'a' ? 'x'~ && 'x'~ || 'x'~ ?? 'x'~ ? 'x'~ ? x : y~ ? 'x' : y z~?:`, "~")
	upper   = strings.Split(` ~ | nosuch~%.txt~#a~##*/~^^~@Q~!r~?~[$i]`, "~")
	code    = strings.Split(`,b~,B,c~: .x~: 1~:1, b:2~: "x"~|stop|restart~ $1~; exit~ += $1~++~--~ = 5~=5~[$1]++~[$0] = 1~[$1] += $2~.x = 1;~ > "file"~ "x"~ -eq 1~ -name x~ x y~-file~(x)~() { x~\nx`, "~")
	spelled = []string{"P", "LIST", "OBJ", "N", "DEBUG", "HOME", "a", "item", "last", "check-deps", "env", "RAW:P"}
)

// TestMalformed: braces that begin with a known name and were meant as a placeholder are an error, everywhere; two braces
// and x-allow make them text. The same braces after another name are text.
func TestMalformed(t *testing.T) {
	for _, sh := range []expr.Shell{expr.Plain, expr.Argv, expr.Bash, expr.Sh, expr.PowerShell, expr.Cmd} {
		for _, name := range spelled {
			for _, suffix := range append(malformed, upper...) {
				if slices.Contains(upper, suffix) && !isCapitals(name) || len(strings.TrimPrefix(name, "RAW:")) == 1 && slices.Contains([]string{"/a/b", "..5", "..x"}, suffix) {
					continue
				}
				braces := "{" + name + suffix + "}"
				if found := problemsOf("echo "+braces, sh, names{}); !strings.Contains(found, "expr-malformed") && !strings.Contains(found, "expr-transform") {
					t.Errorf("shell %v: %s is text (%s)", sh, braces, found)
				}
				for _, text := range []string{"echo {" + braces + "}", "echo $" + braces, "echo " + strings.Replace(braces, name, "zz", 1)} {
					if found := problemsOf(text, sh, names{}); strings.Contains(found, "expr-malformed") {
						t.Errorf("shell %v: %s is an error: %s", sh, text, found)
					}
				}
			}
		}
	}
}

// TestOtherBraces: what other languages write in braces is text, also after a known name.
func TestOtherBraces(t *testing.T) {
	for _, name := range spelled {
		for _, suffix := range append(code, upper...) {
			if isCapitals(name) && slices.Contains(upper, suffix) {
				continue
			}
			text := "{" + name + suffix + "}"
			tmpl, problems := expr.ParseTemplate(text, expr.Plain, names{})
			got, err := "", error(nil)
			if len(problems) == 0 {
				got, err = tmpl.Text(scope{})
			}
			if got != text || err != nil {
				t.Errorf("%s: %q, want the same text (%v, %v)", text, got, problems, err)
			}
		}
	}
	for _, text := range []string{"f(){ P; }", "{ P }", "{{P }}", "awk '{print -1}'", "x {start|stop}", "{json .}", "{{json .}}", "{a..z}", "/x/{a/b/c/}"} {
		if found := problemsOf(text, expr.Plain, names{}); found != "" {
			t.Errorf("%s: %s", text, found)
		}
	}
}

// TestEscape: a text that is escaped renders as itself.
func TestEscape(t *testing.T) {
	for _, name := range append([]string{"zz"}, spelled...) {
		for _, suffix := range append(append([]string{"", ".output", ":trim", "[0]"}, malformed...), append(upper, code...)...) {
			if strings.HasPrefix(suffix, "?") || strings.HasPrefix(suffix, " ? ") && strings.Contains(suffix, ":") {
				continue // a choice cannot be escaped
			}
			text := "a {" + name + suffix + "} ${" + name + suffix + "} {b"
			tmpl, problems := expr.ParseTemplate(expr.Escape(text, names{}), expr.Plain, names{})
			for _, p := range problems {
				if !p.Warning {
					t.Errorf("%s: %v", text, p)
				}
			}
			if got, err := tmpl.Text(scope{}); got != text || err != nil {
				t.Errorf("%s becomes %s (%v)", text, got, err)
			}
		}
	}
}

// TestMalformedMarkdown is TestMalformed for the references of Markdown tools.
func TestMalformedMarkdown(t *testing.T) {
	suffixes := []string{"[index]", "[-1]", "[", "[0", "[i+1]", ".list[index]", ".list[-1]", ".list[0"}
	for _, name := range []string{"input", "prev_step", "output", "preprocess"} {
		for _, suffix := range suffixes {
			texts := []string{"{{" + name + suffix + "}}", "x {{ " + name + suffix + " }} y"}
			if strings.HasPrefix(suffix, ".") {
				texts = append(texts, name+suffix)
			}
			for _, text := range texts {
				if found := markdownProblems(text); found != "expr-malformed" {
					t.Errorf("%s is text (%s)", text, found)
				}
			}
		}
		for _, suffix := range []string{" | upper", " x", ".a b", "+1"} {
			if found := markdownProblems("{{" + name + suffix + "}}"); found != "expr-malformed" {
				t.Errorf("{{%s%s}} is text (%s)", name, suffix, found)
			}
		}
		for _, text := range []string{"{" + name + "[index]}", name + " x[1]", name + ".list [", "see " + name + "[index]", name} {
			if found := markdownProblems(text); found != "" {
				t.Errorf("%s: %s", text, found)
			}
		}
	}
}

// markdownProblems returns the codes of the problems with a text of a Markdown tool.
func markdownProblems(text string) string {
	_, problems := expr.ParseMarkdown(text, page{})
	var codes []string
	for _, p := range problems {
		codes = append(codes, p.Code)
	}
	return strings.Join(codes, " ")
}

func isCapitals(name string) bool {
	return strings.ToUpper(name) == name && len(strings.TrimPrefix(name, "RAW:")) > 1
}

// problemsOf returns the codes of the problems with a text.
func problemsOf(text string, sh expr.Shell, n expr.Names) string {
	_, problems := expr.ParseTemplate(text, sh, n)
	var codes []string
	for _, p := range problems {
		codes = append(codes, p.Code)
	}
	return strings.Join(codes, " ")
}
