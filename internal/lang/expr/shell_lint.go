package expr

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// lintArguments warns if a value becomes part of another program's code. The value is safe in the
// shell, but not in that program.
func (t *taint) lintArguments(words []*syntax.Word) {
	args := make([]argument, len(words))
	for i, word := range words {
		args[i] = argument{literal: literalWord(word), lead: strings.TrimLeft(t.text[word.Pos().Offset():word.End().Offset()], `"'`)}
	}
	codeArguments(args, func(i int, program string) { t.warnCode(words[i], program) })
}
