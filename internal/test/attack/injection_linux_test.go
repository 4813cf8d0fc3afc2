package attack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// hostile are values that run touch PWN wherever something reads them as more than data.
var hostile = []string{
	"$(touch PWN)", "`touch PWN`", `"; touch PWN; "`, `'; touch PWN; '`, "a[$(touch PWN)]", "x\nEND\ntouch PWN\n",
	"${x:=$(touch PWN)}", "x; touch PWN #", "<(touch PWN)", "x && touch PWN || touch PWN",
}

// places are the forms in which a bash script can have a value: each command with each
// quoting, in each construct.
func places() (list []string) {
	quotings := []string{`{X}`, `"{X}"`, `'{X}'`, `a{X}b`, `"a {X} b"`, `'a {X} b'`}
	commands := []string{`echo %s`, `printf '%%s\n' %s`, `v=%s; echo "$v"`, `cat <<< %s`, `a=(%s); echo "${a[0]}"`, `export W=%s; printenv W`}
	constructs := []string{`%s`, `(%s)`, `{ %s; }`, `if true; then %s; fi`, `x=$(%s); echo "$x"`, `f() { %s; }; f`,
		`for i in 1; do %s; done`, `{ %s; } | cat`, `case a in a) %s;; esac`, `while true; do %s; break; done`, `cat < <(%s)`, `! %s`}
	for c, command := range commands {
		for _, quoting := range quotings {
			for k, construct := range constructs {
				if c == 0 || k == 0 || full {
					list = append(list, fmt.Sprintf(construct, fmt.Sprintf(command, quoting)))
				}
			}
		}
	}
	return append(list,
		"cat <<END\n{X}\nEND", "cat <<-END\n\ta {X} b\nEND", "cat <<END | cat\n$(printf %s {X})\nEND", "bash -s -- {X} <<'S'\necho \"$1\"\nS",
		`echo "${NONE:-{X}}"`, `echo ${NONE:-{X}}`, `v=abc; echo "${v/b/{X}}"`, `v=abc; echo "${v#{X}}"`, `[ {X} = a ]`, `[[ {X} == a ]]`, `[[ a == {X} ]]`, `[[ {X} =~ a ]]`,
		`test -n {X}`, `[ -z "{X}" ]`, `[[ -e {X} ]]`, `for i in {X}; do echo "$i"; done`, `case {X} in a) ;; *) echo x;; esac`, `set -- {X}; echo "$1"`,
		`echo > "out-{X}.txt"`, `cat < {X}`, `env V={X} printenv V`, `V={X} printenv V`, `command echo {X}`, `echo "$(echo "{X}")"`, `echo "$(printf %s '{X}' | cat)"`,
		`echo {X} # {X}`, `# {X}`, `m[0]={X}; echo "${m[0]}"`, `v+={X}; echo "$v"`, `readonly r={X}; echo "$r"`, `declare d={X}; echo "$d"`, `f() { local l={X}; echo "$l"; }; f`,
		`echo {X} | xargs -d '\n' echo`, `printf '%s' {X} | tr a b`, `: {X}`, `time echo {X}`, `coproc cat <<< {X}; wait`,
		// Where the shell calculates, or takes a name, only a number or a name is let in.
		`echo $(( {X} + 1 ))`, `(( {X} > 1 ))`, `[[ {X} -eq 1 ]]`, `a=(1 2); echo "${a[{X}]}"`, `v=abcdef; echo "${v:{X}}"`, `declare -i n={X}`, `let n={X}`,
		`read -r {X} <<< 1`, `printf -v {X} 1`, `unset {X}`, `for ((i={X}; i<1; i++)); do :; done`, `exit {X}`, `[[ -v {X} ]]`, `{X} echo x`)
}

// TestValuesAreData: what a caller gives is data, whatever is in it and wherever the
// definition puts it. All forms are steps of one tool, so that each value is one run.
func TestValuesAreData(t *testing.T) {
	// What is calculated is a value of its own; the others are one in the small size.
	values := sizetest.Of([]string{hostile[4], strings.Join(hostile, "\n")}, hostile[:6], hostile)
	forms := places()
	var def strings.Builder
	def.WriteString("name: t\ndescription: x\nparameters: {X: {type: string, description: x}}\nsteps:\n")
	for i, form := range forms {
		// The condition leaves it to the step to refuse a value, so that the others run.
		fmt.Fprintf(&def, "  - name: s%d\n    parallel: true\n    continue-on-error: true\n    timeout: 20s\n    run-condition: \"{X} != 'none'\"\n    bash: |\n      %s\n", i, indent(form))
	}
	for _, value := range values {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write("t.yaml", def.String())
			out := s.run("run", "./t.yaml", "X="+value, "--progress", "none")
			if s.exists("PWN") || out.code != 0 {
				if s.exists("PWN") {
					s.alone(forms, value)
				}
				t.Errorf("PWN: %v, exit code %d\n%.2000s", s.exists("PWN"), out.code, out.stderr)
			}
		})
	}
}

// alone finds the forms that let a value run.
func (s *site) alone(forms []string, value string) {
	for i, form := range forms {
		one := newSite(s.T)
		one.write("t.yaml", "name: t\ndescription: x\nparameters: {X: {type: string, description: x}}\nsteps:\n  - name: s\n    bash: |\n      "+indent(form)+"\n")
		one.run("run", "./t.yaml", "X="+value)
		if one.exists("PWN") {
			s.Errorf("form %d runs the value: %s", i, form)
		}
	}
}

// TestRefusedPlaces: what a shell reads twice takes no value.
func TestRefusedPlaces(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	forms := []string{`eval "echo {X}"`, `eval {X}`, `trap "echo {X}" EXIT`, "echo `echo {X}`", "cat <<'END'\n{X}\nEND", `echo $'{X}'`, `echo $"{X}"`,
		`alias a={X}`, `source <(echo {X})`, `. /dev/stdin <<< {X}`, `PS4={X}`, `BASH_ENV={X} bash -c true`, `PROMPT_COMMAND={X}`, `a[{X}]=1; declare "a[{X}]=2"`,
		`mapfile -C {X} a`, `v=x; echo "${v@{X}}"`, `complete -C {X} c`, `echo \{X}`, `f{X}() { :; }`}
	for i, form := range forms {
		s.write(fmt.Sprintf("r%d.yaml", i), fmt.Sprintf("name: r%d\ndescription: x\nparameters: {X: {type: string, description: x}}\nsteps:\n  - name: s\n    bash: |\n      %s\n", i, indent(form)))
	}
	out := s.run("validate", ".", "-o", "json")
	for i, form := range forms {
		if !strings.Contains(out.stdout, fmt.Sprintf("r%d.yaml", i)) && s.run("run", fmt.Sprintf("./r%d.yaml", i), "X=$(touch PWN)").code == 0 {
			t.Errorf("it is taken: %s", form)
		}
	}
	if s.exists("PWN") {
		t.Error("a value ran")
	}
}

// TestWarnedPlaces: a value that something else reads as code has a warning.
func TestWarnedPlaces(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	forms := []string{`make build VERSION={X}`, `ssh -o ProxyCommand={X} h`, `echo {X} | xargs sh -c`, `echo {X} | sh`, `sqlite3 db ".shell {X}"`,
		`env BASH_ENV={X} bash -c true`, `env ENV={X} sh -i`, `GIT_SSH_COMMAND={X} git fetch`, `v={X}; echo ${!v}`, `v={X}; echo "${v@P}"`, `v={X}; [[ -v $v ]]`,
		`v={X}; printf -v "$v" x`, `v={X}; read "$v"`, `v={X}; declare -n r=$v`, `a=({X}); echo $((a[0]))`, `set -- {X}; echo $(($1))`, `for i in {X}; do a[i]=1; done`,
		`: "${n:={X}}"; echo $((n))`, `v={X}; eval "echo $v"`, `v={X}; trap "echo $v" EXIT`, `v={X}; bash -c "$v"`}
	for i, form := range forms {
		s.write(fmt.Sprintf("w%d.yaml", i), fmt.Sprintf("name: w%d\ndescription: x\nparameters: {X: {type: string, description: x}}\nsteps:\n  - name: s\n    bash: |\n      %s\n", i, indent(form)))
	}
	out := s.run("validate", ".", "-o", "json")
	for i, form := range forms {
		if !strings.Contains(out.stdout, fmt.Sprintf(`"w%d.yaml"`, i)) {
			t.Errorf("no warning: %s", form)
		}
	}
}
