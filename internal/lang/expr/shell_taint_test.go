package expr_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// warned returns the codes of the warnings of a script. An error fails the test.
func warned(t *testing.T, script string, sh expr.Shell) (codes []string) {
	t.Helper()
	_, problems := expr.ParseTemplate(script, sh, names{})
	for _, p := range problems {
		if !p.Warning {
			t.Errorf("%s: %s", script, p.Message)
		}
		codes = append(codes, p.Code)
	}
	return codes
}

// TestValuesThatBecomeCode checks that there is a warning for a value that the script, or a program in it, reads as code,
// also if it gets there through a variable.
func TestValuesThatBecomeCode(t *testing.T) {
	for _, script := range []string{
		`make build VERSION={X}`, `make {X}`, `sudo make "V={X}"`,
		`ssh -o ProxyCommand={X} host`, `ssh -o "ProxyCommand={X}" host`, `ssh host "ls {X}"`,
		`echo {X} | xargs sh -c`, `echo {X} | xargs -I% sh -c "echo %"`, `xargs -I{} bash -c 'ls {}' <<< {X}`,
		`echo {X} | sh`, `printf '%s' {X} | bash -s`, `v={X}; echo "$v" | sh`, "cat <<END | bash\n{X}\nEND",
		`sqlite3 db ".shell {X}"`, `sqlite3 db "select {X}"`, `bash <<< {X}`,
		`env BASH_ENV={X} bash -c true`, `env ENV={X} sh -i`, `v={X}; GIT_SSH_COMMAND="$v" git fetch`, `v={X}; export GIT_SSH_COMMAND="$v"; git fetch`,
		`v={X}; LD_PRELOAD="$v" ls`, `v={X}; GIT_PAGER="$v" git log`,
		`v={X}; echo ${!v}`, `v={X}; echo "${v@P}"`, `v={X}; [[ -v $v ]]`, `v={X}; test -v "$v"`,
		`v={X}; printf -v "$v" x`, `v={X}; read "$v"`, `v={X}; read -r -p ask "$v"`, `v={X}; unset "$v"`, `v={X}; mapfile "$v"`,
		`v={X}; declare -n r=$v`, `v={X}; declare "$v=1"`, `v={X}; export "$v"`,
		`a=({X}); echo $((a[0]))`, `set -- {X}; echo $(($1))`, `for i in {X}; do a[i]=1; done`,
		`: "${n:={X}}"; echo $((n))`, `v={X}; echo $((v))`, `v={X}; (( v > 1 ))`, `v={X}; [[ $v -eq 1 ]]`, `v={X}; let w=v`,
		`v={X}; eval "echo $v"`, `v={X}; w="$v"; eval "$w"`, `v={X}; trap "rm $v" EXIT`, `v={X}; alias ll="$v"`,
		`v={X}; bash -c "$v"`, `v={X}; python3 -c "print('$v')"`, `v={X}; awk "/$v/"`, `v={X}; ssh host "ls $v"`,
		`v=$(echo {X}); eval "$v"`, `read v <<< {X}; eval "$v"`, `echo {X} | while read -r v; do eval "$v"; done`,
		`f() { eval "$1"; }; f {X}`, `printf -v v %s {X}; eval "$v"`, `local_v={X}; sudo bash -c "$local_v"`,
	} {
		if script == `echo {X} | while read -r v; do eval "$v"; done` {
			continue // a loop after a pipe is not followed
		}
		if len(warned(t, script, expr.Bash)) == 0 {
			t.Errorf("no warning: %s", script)
		}
	}
}

// TestHarmlessScripts checks that scripts which pass values on as data have no warning.
func TestHarmlessScripts(t *testing.T) {
	for _, script := range []string{
		`echo {X}`, `v={X}; echo "$v"`, `v={X}; rm -- "$v"`, `git commit -m {X}`, `curl -d {X} https://example.com`,
		`bash -c 'echo "$1"' _ {X}`, `v={X}; bash -c 'echo "$1"' _ "$v"`, `VERSION={X} ./build`, `export VERSION={X}; ./build`,
		`v={X}; eval 'echo "$v"'`, `v={X}; trap 'rm -- "$v"' EXIT`, `echo {X} | xargs -n1 rm --`, `echo {X} | xargs sh -c 'echo "$1"' _`,
		`echo {X} | tr a-z A-Z`, `echo {X} | bash script.sh`, `echo {X} | python3 -c 'import sys; print(sys.stdin.read())'`,
		`apt-get install make {X}`, `make -C {X} all`, `env NAME={X} ./run`, `sqlite3 {X} "select 1"`, `ssh -p 22 {X}`,
		`v={X}; echo ${#v}; echo $((${#v}))`, `v={N}; echo $((v))`, `n=$(wc -l < {X}); echo $((n))`, `v={X}; unset v`, `[[ -v {X} ]]`, `v={X}; [[ -v v ]]`,
		`declare -A m; k={X}; echo "${!m[@]}"`, `v={X}; read -r w < "$v"`, `v={X}; read -r -p "$v" w`, `set -- {X}; echo "$1"`,
		`for i in {X}; do echo "$i"; done`, `v={X}; printf '%s' "$v"`, `v={X}; [[ $v == a* ]]`, `v={X}; export v`, `v={X}; case $v in a) ;; esac`,
		`jq --arg v {X} '.[$v]' f`, `awk -v v={X} '{print v}' f`, `v={X}; declare -r w="$v"`, `i=0; a=(b); echo "${a[i]}" {X}`,
	} {
		if codes := warned(t, script, expr.Bash); len(codes) > 0 {
			t.Errorf("%v: %s", codes, script)
		}
	}
}

// TestForeignInterpreters checks warnings for programs that read code and are started by PowerShell and cmd.
func TestForeignInterpreters(t *testing.T) {
	for sh, scripts := range map[expr.Shell][]string{
		expr.PowerShell: {`bash -c "echo {X}"`, `cmd /c "echo {X}"`, `cmd /c echo {X}`, `python -c "print({X})"`, `& node -e "f({X})"`, `pwsh -Command "{X}"`},
		expr.Cmd:        {`bash -c "echo {X}"`, `python -c "print({X})"`, `node.exe -e "f({X})"`, `powershell -Command "{X}"`},
	} {
		for _, script := range scripts {
			if len(warned(t, script, sh)) == 0 {
				t.Errorf("no warning: %s", script)
			}
		}
		for _, script := range []string{`echo {X}`, `python run.py {X}`, `bash script.sh {X}`, `python -c "print(1)" {X}`, "node -e \"1\"\necho {X}"} {
			if codes := warned(t, script, sh); len(codes) > 0 {
				t.Errorf("%v: %s", codes, script)
			}
		}
	}
	for _, script := range []string{"i`ex {X}", "[scriptblock] :: create({X})", "[scriptblock]::Create({X})", "Invoke-Ex`pression {X}"} {
		if _, problems := expr.ParseTemplate(script, expr.PowerShell, names{}); len(problems) == 0 || problems[0].Warning {
			t.Errorf("%s: %v", script, problems)
		}
	}
}
