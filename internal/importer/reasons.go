package importer

import "slices"

// Reasons are how the finished steps of a tool differ from what the file asks for. They are read from the steps: a reader
// that only meant to write a question cannot claim that there is one.
func (t *Tool) Reasons() (reasons []string) {
	all := slices.Concat(t.Steps, t.OnSuccess, t.OnFailure, t.Finally)
	if anyStep(all, func(s *Step) bool { return s.Approve != "" }) {
		reasons = append(reasons, "its question is an approval, which other entry points can answer as well")
	}
	if anyStep(all, func(s *Step) bool { return len(s.Inputs) > 0 }) {
		reasons = append(reasons, "sources and generates are a cache, which also restores the files of earlier inputs")
	}
	return reasons
}

func anyStep(steps []*Step, is func(*Step) bool) bool {
	return slices.ContainsFunc(steps, func(s *Step) bool { return is(s) || anyStep(s.Steps, is) || anyStep(s.Finally, is) })
}
