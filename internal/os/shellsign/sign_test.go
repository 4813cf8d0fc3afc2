package shellsign_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/os/shellsign"
)

func TestFirst(t *testing.T) {
	for command, want := range map[string]string{
		"echo $HOME {N} | cat":               "$HOME",
		"cat {FILE} | wc -l":                 "|",
		"make && make install":               "&&",
		"make || true":                       "||",
		"make; make install":                 ";",
		"make ; make install":                ";",
		"sleep 5 &":                          "&",
		"sort a > b":                         ">",
		"sort a >\"b c\"":                    ">\"b c",
		"sort a >b":                          ">b",
		"sort a 2>/dev/null":                 "2>/dev/null",
		"sort a 2>&1":                        "2>&1",
		"sort < a":                           "<",
		"sort <a":                            "<a",
		"cat << EOF":                         "<<",
		"echo ${HOME}/x":                     "${HOME}",
		"echo a$(date)":                      "$(",
		"echo `date`":                        "`",
		"curl -H \"Authorization: $TOKEN\"":  "$TOKEN",
		"echo \"$(date)\"":                   "$(",
		"LANG=C sort a":                      "LANG=C",
		"bash x.sh > out":                    ">",
		"echo {A ? '|' : \"$B\"} $C":         "$C",
		"echo 'a b' \"c d\" | cat":           "|",
		"echo x\\\n  $HOME":                  "$HOME",
		"echo 'a | b' '$HOME' \"a | b > c\"": "",
		"echo \\$HOME \\| \\;":               "",
		"echo {A} {B ? '>' : '|'} {{C}}":     "",
		"curl https://x/?a=1&b=2;c":          "",
		"grep -E a|b c":                      "",
		"awk '{print $1}'":                   "",
		"awk \"{print $NF}\" x":              "",
		"sed s/$FOO/x/":                      "",
		"grep foo$ x":                        "",
		"sh -c \"echo $HOME | cat\"":         "",
		"docker exec c sh -c \"echo $X\"":    "",
		"ssh host ls $HOME | wc -l":          "",
		"find . -name x -exec rm {} ;":       "",
		"find . -exec rm {} \\;":             "",
		"git log --format=%H a..b":           "",
		"expr 5 '>' 3":                       "",
		"echo -- a=b; ":                      "",
		"echo $1 $? $$ $ 5$":                 "",
		"":                                   "",
		"echo \"open":                        "",
		"echo {":                             "",
		"echo ünï \"é\" | x":                 "|",
		"| x":                                "",
		"echo -n <{A}> <b>":                  "",
		"ls *.yaml":                          "*.yaml",
		"sudo rm -rf build/*":                "build/*",
		"cat a?.txt":                         "a?.txt",
		"wc [ab].txt":                        "[ab].txt",
		"cp {A}/*.o x":                       "{A}/*.o",
		"cp x{,.bak}":                        "x{,.bak}",
		"mkdir -p src/{a,b}":                 "src/{a,b}",
		"touch f{1..3}":                      "f{1..3}",
		"cat ~/x":                            "~/",
		"git clone x ~":                      "~",
		"~/bin/x a":                          "~/",
		"python3 ~/x.py":                     "~/",
		"ls '*.yaml' \"*\" \\* {A}":          "",
		"cp {A} {{B}} '{a,b}' \"{a,b}\"":     "",
		"tar -cf x --exclude *.o a":          "",
		"tar -cf x --exclude=*.o a":          "",
		"find . -name *.go":                  "",
		"grep -c a.*b x":                     "",
		"git add *.go":                       "",
		"curl https://x/{a,b}?c=1":           "",
		"expr 5 * 3":                         "",
		"cat '~/x' \"~/y\" a~ a/~/b ~root":   "",
		"ssh host ls ~/x *":                  "",
		"sort a >{B}":                        ">{B}",
	} {
		sign, ok := shellsign.First(command)
		if got := command[sign.Off : sign.Off+sign.Len]; got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func FuzzFirst(f *testing.F) {
	f.Add("a | b")
	f.Add("a \"$x\" '\\")
	f.Fuzz(func(t *testing.T, command string) {
		if s, ok := shellsign.First(command); ok && (s.Off < 0 || s.Len <= 0 || s.Off+s.Len > len(command)) {
			t.Errorf("%d bytes at %d of %q", s.Len, s.Off, command)
		}
	})
}
