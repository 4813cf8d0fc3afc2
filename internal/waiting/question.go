package waiting

import (
	"encoding/json"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/tool"
)

// Questions are those of a state.
func Questions(run, tool string, s *dag.State) []history.Question {
	var list []history.Question
	s.Waits(func(path dag.ID, wait uint64, r *dag.Result) {
		if q, ok := questionOf(run, tool, path, wait, r); ok {
			list = append(list, q)
		}
	})
	return list
}

// questionOf is what a step asks that waits.
func questionOf(run, name string, path dag.ID, wait uint64, r *dag.Result) (history.Question, bool) {
	if r == nil || r.Wait == nil || r.Wait.Kind != waitsForPerson {
		return history.Question{}, false
	}
	q := history.Question{Run: run, Tool: name, Step: string(path), Wait: wait, Prompt: r.Wait.Prompt, Since: r.Started, Until: r.Wait.Until}
	if len(r.Wait.Form) > 0 {
		form, err := tool.ParseForm(r.Wait.Form)
		if err != nil { // of a later version: it takes what this one cannot check
			return history.Question{}, false
		}
		q.Form = form
	}
	return q, true
}

// valuesText is the output of an approval: the values of its form as JSON.
func valuesText(values map[string]any) (string, error) {
	b, err := json.Marshal(values)
	return string(b), err
}
