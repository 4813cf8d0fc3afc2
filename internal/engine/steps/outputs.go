package steps

import (
	"errors"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
)

// ReasonOutputs is the reason of a step that did not write what it declares under outputs.
const ReasonOutputs = "outputs"

// outputVariable is the variable with the path of the file in which a step writes its outputs.
const outputVariable = "FLOWRUN_OUTPUT"

// Outputs returns declared outputs with these values, masked for the record.
func (s *Session) Outputs(values map[string]any) (*dag.Outputs, error) {
	return dag.NewOutputs(values, s.mask.Value(values).(map[string]any))
}

// addOutputs adds the outputs that the attempt has written to the Result. A step that has failed does not report that
// outputs are missing or wrong; then it has none.
func (t *start) addOutputs(r *dag.Result) error {
	if len(t.Outputs) == 0 {
		return nil
	}
	entries, err := t.entries(outputVariable)
	return t.session.CollectOutputs(r, entries, err, "$"+outputVariable, t.Outputs)
}

// CollectOutputs sets the outputs of a Result from entries. It fails a successful Result if err is not nil or if they are
// not what was declared. file is what messages call the source of the entries.
func (s *Session) CollectOutputs(r *dag.Result, entries []stepfile.Entry, err error, file string, declared []stepfile.Declaration) error {
	var values map[string]any
	if err == nil {
		values, err = stepfile.Collect(file, entries, declared)
	}
	switch {
	case err == nil:
		r.Outputs, err = s.Outputs(values)
		return err
	case r.Status == dag.Succeeded:
		r.Status, r.ExitCode, r.Reason = dag.Failed, 1, ReasonOutputs
		r.Message = s.mask.String("wrong outputs: " + err.Error())
	}
	return nil
}

// ReturnedOutputs sets the outputs of a step that returned v: the members of an object. It may have further members.
func (s *Session) ReturnedOutputs(r *dag.Result, v any, declared []stepfile.Declaration) error {
	if len(declared) == 0 {
		return nil
	}
	members, ok := v.(map[string]any)
	if !ok {
		return s.CollectOutputs(r, nil, errors.New("the step must return an object with its outputs"), "", declared)
	}
	var entries []stepfile.Entry
	for _, d := range declared {
		entries = append(entries, stepfile.Entry{Name: d.Name, Value: members[d.Name]})
	}
	return s.CollectOutputs(r, entries, nil, "the returned object", declared)
}
