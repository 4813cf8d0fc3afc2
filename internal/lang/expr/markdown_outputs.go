package expr

// withoutOutputs drops the word outputs before the name of a step: PaperAgents also writes
// {{outputs.search.results}} for {{search.results}}.
func (w markdownRef) withoutOutputs(names Names) markdownRef {
	if len(w.path) < 2 || w.path[0].Field != "outputs" || names.Symbol("outputs").Class != Unknown || names.Symbol(w.path[1].Field).Class != Step {
		return w
	}
	return markdownRef{w.path[1:]}
}
