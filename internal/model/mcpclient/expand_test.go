package mcpclient_test

import (
	"os"
	"testing"

	"github.com/flowrun/flowrun/internal/model/mcpclient"
)

// TestExpand: variables as the clients write them that servers are set up for.
func TestExpand(t *testing.T) {
	t.Setenv("A", "one")
	t.Setenv("EMPTY", "")
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"$A ${A} ${env:A} {env:A} x":         "one one one one x",
		"{env:} {env:a b} {A}":               "{env:} {env:a b} {A}",
		"${NO_SUCH:-us-east-1} ${A:-two}":    "us-east-1 one",
		"${EMPTY:-text} [${EMPTY}]":          "text []",
		"${NO_SUCH:-}${env:NO_SUCH:-b}":      "b",
		"pa$$sword $$A 5$ ${} ${1} $":        "pa$sword $A 5$ ${} ${1} $",
		"${workspaceFolder}/a ${userHome}/b": "/srv/a " + home + "/b",
		"${inputs} {A} ${A":                  "",
	} {
		got, err := mcpclient.Expand(mcpclient.ServerConfig{Name: "s", Command: "x", Args: []string{text}}, "/srv")
		if want == "" {
			if err == nil {
				t.Errorf("%s became %q", text, got.Args[0])
			}
			continue
		}
		if err != nil || got.Args[0] != want {
			t.Errorf("%s: %q, %v; want %q", text, got.Args, err, want)
		}
	}
}
