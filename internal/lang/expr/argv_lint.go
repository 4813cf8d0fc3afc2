package expr

// lintArgv warns if a value becomes part of another program's code: run: starts that program without
// a shell, but the program reads code in its arguments.
func lintArgv(words []argvWord) (problems []Problem) {
	if len(words) == 0 {
		return nil
	}
	args := make([]argument, len(words))
	for i, w := range words {
		args[i] = w.argumentOf()
	}
	codeArguments(args, func(i int, program string) {
		for _, p := range words[i].parts {
			if p.placeholder != nil && p.placeholder.mayHoldText() {
				problems = append(problems, usedAsCode(p.placeholder, program))
			}
		}
	})
	return problems
}

// argumentOf returns the word as far as the author wrote it.
func (w argvWord) argumentOf() (a argument) {
	for i, p := range w.parts {
		text := p.text
		if p.placeholder != nil {
			text = p.placeholder.name()
		}
		a.literal += text
		if i == 0 {
			a.lead = text
		}
	}
	return a
}
