package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// TestListedWords: a flag whose help lists the words that it takes completes these words.
func TestListedWords(t *testing.T) {
	list := regexp.MustCompile(`(?:^|[ :])([a-z-]+(?:\|[a-z-]+)+)(?:$|[ ,;)])`)
	seen := 0
	for _, c := range allCommands(rootCommand(&ui.Env{}, nil, nil)) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			m := list.FindStringSubmatch(f.Usage)
			if m == nil || f.NoOptDefVal != "" {
				return
			}
			seen++
			var offered []string
			if complete, ok := c.GetFlagCompletionFunc(f.Name); ok {
				words, _ := complete(c, nil, "")
				for _, word := range words {
					word, _, _ = strings.Cut(word, "\t") // the description
					offered = append(offered, word)
				}
			}
			if !slices.Equal(offered, strings.Split(m[1], "|")) {
				t.Errorf("%s --%s: the help lists %s, completion offers %q", c.CommandPath(), f.Name, m[1], offered)
			}
		})
	}
	if seen < 30 {
		t.Errorf("only %d flags list words", seen)
	}
}
