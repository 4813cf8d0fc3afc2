package steps

import (
	"encoding/json"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
)

// ReasonState is the reason of a step that wrote wrong values for its tool's state.
const ReasonState = "state"

// stateVariable is the variable with the path of the file in which a step sets values of its tool's state.
const stateVariable = "FLOWRUN_STATE"

// addState adds the values that the attempt has set to a successful Result, or fails it if they are wrong.
func (t *start) addState(r *dag.Result) {
	if len(t.State) == 0 || r.Status != dag.Succeeded {
		return
	}
	if err := t.readState(r); err != nil {
		r.Status, r.ExitCode, r.Reason = dag.Failed, 1, ReasonState
		r.Message = "wrong state: " + err.Error()
	}
}

func (t *start) readState(r *dag.Result) error {
	entries, err := t.entries(stateVariable)
	if err != nil || len(entries) == 0 {
		return err
	}
	values, err := stepfile.Collect("$"+stateVariable, entries, t.State)
	if err != nil {
		return err
	}
	var changes []dag.StateChange
	for _, d := range t.State {
		v, set := values[d.Name]
		if !set {
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		changes = append(changes, dag.StateChange{Key: d.Name, Value: text})
	}
	r.SetState(changes)
	return nil
}
