package expr_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// TestRunUsedAsCode: run: has no shell, but a program that it starts may read code in its arguments, as in a script.
func TestRunUsedAsCode(t *testing.T) {
	for command, want := range map[string]string{
		`bash -c "greet {P}"`:                      "bash -c",
		`sh -ec '{P}'`:                             "sh -ec",
		`timeout 5 python3 -c "print('{P}')" x`:    "python3 -c",
		`python3 -c 'import sys' {P}`:              "",
		`python3 -c 'print({N})'`:                  "",
		`/usr/bin/awk {P} file`:                    "awk",
		`awk -v "p={P}" '{ print p }' {P}`:         "",
		`jq --arg v {P} '.[$v]' {P}`:               "",
		`jq ".{P}" file`:                           "jq",
		`sed -n "{N}p" {P}`:                        "",
		`ssh -p 22 host ls {P}`:                    "ssh",
		`ssh -o "ProxyCommand={P}" host`:           "ssh -o",
		`make VERSION={P}`:                         "make",
		`make -C {P} all`:                          "",
		`sqlite3 {P} "select {P}"`:                 "sqlite3",
		`env "BASH_ENV={P}" ls`:                    "the program that reads $BASH_ENV",
		`cat {P}`:                                  "",
		`{P} -c {P}`:                               "",
		`git log --format="%h {P}" -- {P} "{N}.c"`: "",
	} {
		_, problems := expr.ParseTemplate(command, expr.Argv, names{})
		got := ""
		for _, p := range problems {
			if p.Code != expr.CodeUsedAsCode || !p.Warning {
				t.Errorf("%s: %+v", command, p)
			}
			got += p.Message
		}
		if want != "" {
			want = "{P} is used as code by " + want + ": quotes in the value can change the program"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", command, diff)
		}
	}
}
