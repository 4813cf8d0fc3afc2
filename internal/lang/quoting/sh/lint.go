package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/internal/lang/quoting"
)

// lintArguments warns if a value becomes part of another program's code. The value is safe in the
// shell, but not in that program.
func (t *taint) lintArguments(words []*syntax.Word) {
	args := make([]quoting.Argument, len(words))
	for i, word := range words {
		args[i] = quoting.Argument{Literal: literalWord(word), Lead: strings.TrimLeft(t.text[word.Pos().Offset():word.End().Offset()], `"'`)}
	}
	quoting.CodeArguments(args, func(i int, program string) { t.warnCode(words[i], program) })
}
