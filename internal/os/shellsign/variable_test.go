package shellsign_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/os/shellsign"
)

func TestVariables(t *testing.T) {
	for text, want := range map[string]string{
		"${PATH}:/x":            "${PATH}",
		"$HOME/bin:${A:-b}${C}": "$HOME ${A:-b} ${C}",
		"$1 $$ $ ${ ${1} $(x)":  "",
		`\$HOME $$HOME`:         "",
		"costs 5$":              "",
	} {
		if got := written(text, shellsign.Variables(text)); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestInSingleQuotes(t *testing.T) {
	for script, want := range map[string]string{
		"echo '${A}' \"${B}\" $C":        "${A}",
		"echo \"it's ${A}\" '$B'":        "$B",
		"# don't $A\necho '$B'":          "$B",
		"echo a#'$B'":                    "$B",
		"echo \\' $A":                    "",
		"echo 'a\nb $A\n# $B'":           "$A $B",
		"echo 'open $A":                  "$A",
		"echo $A ${B}":                   "",
		"curl -d '{\"a\": \"${NAME}\"}'": "${NAME}",
	} {
		if got := written(script, shellsign.InSingleQuotes(script)); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// written returns the variables as the text has them.
func written(text string, list []shellsign.Variable) string {
	var words []string
	for _, v := range list {
		words = append(words, text[v.Off:v.Off+v.Len])
	}
	return strings.Join(words, " ")
}
