package lostfailure

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// TestLostFailures: which failures are lost, as PROGRAM, or PROGRAM|LAST in a pipeline.
func TestLostFailures(t *testing.T) {
	for script, want := range map[string]string{
		// the first part of a pipeline
		"pg_dump x | gzip > f":                               "pg_dump|gzip",
		"set -e\npg_dump x | gzip > f":                       "pg_dump|gzip",
		"set -eo pipefail\npg_dump x | gzip > f":             "",
		"set -e -o pipefail; pg_dump x | gzip > f":           "",
		"set -o pipefail\npg_dump x | gzip > f":              "",
		"set -o pipefail; set +o pipefail\npg_dump x | gzip": "pg_dump|gzip",
		"pg_dump x |& gzip > f":                              "pg_dump|gzip",
		"pg_dump {DB} | gzip > \"{OUT}/x.gz\"":               "pg_dump|gzip",
		"pg_dump x | gzip | ssh host 'cat > f'":              "pg_dump|ssh",
		"echo x | curl -d @- host | jq .":                    "curl|jq",
		"cat file | sort | uniq -c > out":                    "cat|uniq",
		"sort file | uniq > out":                             "sort|uniq",
		"make 2>&1 | tee log":                                "make|tee",
		"x=$(curl -sf host | jq -r .tag)\necho $x":           "curl|jq jq",
		"x=\"$(curl -sf host | jq -r .tag)\"":                "curl|jq",
		"pg_dump x | gzip > f && mv f g":                     "pg_dump|gzip",
		"if true; then pg_dump x | gzip > f; fi":             "pg_dump|gzip",
		"f() { pg_dump x | gzip > f; }\nf":                   "pg_dump|gzip",
		"(cd x && pg_dump x) | gzip > f":                     "|gzip",
		"sudo pg_dump x | gzip > f":                          "pg_dump|gzip",
		"$CMD x | gzip > f":                                  "$CMD|gzip",
		"git ls-files | while read f; do echo $f; done":      "git|",
		"echo x | sort":                                      "",
		"printf '%s\\n' a | gzip > f":                        "",
		"yes | apt-get install x":                            "",
		"seq 5 | xargs rm":                                   "",
		"cat <<END | psql\nselect 1\nEND":                    "",
		"cat | gzip > f":                                     "",
		"if pg_dump x | gzip > f; then echo; fi":             "",
		"while curl x | jq .; do sleep 1; done":              "",
		"pg_dump x | gzip > f || exit 1":                     "",
		"! pg_dump x | gzip > f":                             "",
		"curl x | grep -q ok":                                "",
		"docker ps | grep x":                                 "",
		"docker ps | grep -v x":                              "docker|grep",
		"docker ps | grep x | wc -l":                         "docker|wc",
		"git log | head -1":                                  "",
		"find . | sed 5q":                                    "",
		"curl -f x | tar xz":                                 "",
		"tar c x | gzip > f":                                 "tar|gzip",
		"tar c x | ssh host tar x":                           "tar|ssh",
		"curl x | jq -e .a":                                  "",
		"(pg_dump x || true) | gzip > f":                     "",
		"pg_dump x | gzip > f; [ ${PIPESTATUS[0]} = 0 ]":     "",
		"ps aux | awk '{print $1}'":                          "",
		"echo \"$(curl x | jq .)\"":                          "", // strict would not see it either
		"awk '{print $1}' x > y":                             "",
		"pg_dump x | gzip > f &\nwait":                       "",
		"echo 'a | b'":                                       "",
		"# pg_dump x | gzip\necho":                           "",
		"pg_dump x |":                                        "", // no script
		// a later command
		"a\nb":                                 "a",
		"a; b":                                 "a",
		"pg_dump x > f\necho done":             "pg_dump",
		"cd x\nmake\nmake install":             "cd make",
		"a &&\n  b\necho":                      "a b",
		"for f in *; do import $f; done":       "import",
		"while read f; do import $f; done < x": "import",
		"if x; then\n  a\n  b\nfi":             "a",
		"case x in a) b; c ;; esac":            "b",
		"{ a; b; }":                            "a",
		"x=$(a)\nb":                            "a",
		"set -e\na\nb":                         "",
		"set -euo pipefail\na | c\nb":          "",
		"set -o errexit\na\nb":                 "",
		"set +e\na\nb":                         "",
		"a || exit 1\nb":                       "",
		"a || { echo no; exit 1; }\nb":         "",
		"a\nrc=$?\nb\nexit $rc":                "",
		"trap 'exit 1' ERR\na\nb":              "",
		"a":                                    "",
		"a \\\n  b":                            "",
		"echo a\nb":                            "",
		"x=1\nexport Y=2\nb":                   "",
		"if x; then\n  a\nfi":                  "",
		"[ -f x ] && echo y\nb":                "",
		"command -v x && y\nb":                 "y",
		"rm -f x\nb":                           "",
		"rm x\nb":                              "rm",
		"grep x y\nb":                          "",
		"a &\nb":                               "",
		"f() { a; }\nf":                        "",
		"cat <<END\n{A}\nEND\nb":               "",
		"for i in 1 2; do echo $i; done\nb":    "",
		"for f in *; do import $f || exit 1; done": "",
		"sleep 1\nb": "",
		"exec b":     "",
		"if":         "",
	} {
		if got := lostPrograms(Find(script, expr.Bash, false)); got != want {
			t.Errorf("%q: got %q, want %q", script, got, want)
		}
		if got := lostPrograms(Find(script, expr.Bash, true)); got != "" && !strings.Contains(script, "set +") {
			t.Errorf("%q, strict: %s", script, got)
		}
	}
	for script, want := range map[string]string{"a\nb": "", "a | b": "a|b", "a || b": "", "echo x | b": ""} {
		if got := lostPrograms(Find(script, expr.Sh, true)); got != want { // sh has no pipefail
			t.Errorf("%q for sh, strict: got %q, want %q", script, got, want)
		}
	}
}

func lostPrograms(list []Failure) string {
	var words []string
	for _, l := range list {
		word := l.Program
		if l.Pipeline {
			word += "|" + l.Last
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}
