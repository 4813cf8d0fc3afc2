package expr

import "github.com/flowrun/flowrun/internal/lang/quoting"

// lintArgv warns if a value becomes part of another program's code: run: starts that program without
// a shell, but the program reads code in its arguments.
func lintArgv(src string, words []argvWord) (problems []Problem) {
	if len(words) == 0 {
		return nil
	}
	args := make([]quoting.Argument, len(words))
	for i, w := range words {
		args[i] = w.argumentOf()
	}
	quoting.CodeArguments(args, func(i int, program string) {
		for _, p := range words[i].parts {
			if p.placeholder != nil && p.placeholder.mayHoldText() {
				ph := &quoting.Placeholder{Off: p.placeholder.off, Written: src[p.placeholder.off : p.placeholder.off+p.placeholder.len], Name: p.placeholder.name()}
				problems = append(problems, placeProblem(quoting.ReadAsCode(ph, program)))
			}
		}
	})
	return problems
}

// argumentOf returns the word as far as the author wrote it.
func (w argvWord) argumentOf() (a quoting.Argument) {
	for i, p := range w.parts {
		text := p.text
		if p.placeholder != nil {
			text = p.placeholder.name()
		}
		a.Literal += text
		if i == 0 {
			a.Lead = text
		}
	}
	return a
}
