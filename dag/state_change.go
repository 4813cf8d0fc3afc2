package dag

import "encoding/json"

// StateChange is a value that a step sets for later runs of its tool. Package history has the
// rules by which it is kept.
type StateChange struct {
	Tool  string          `json:"tool"`           // that declares the key
	File  string          `json:"file,omitempty"` // of its definition
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	// Merge says what happens if another run has changed the key in the meantime: last, max,
	// min or append. With "" the change is refused.
	Merge string `json:"merge,omitempty"`
	// Step means that the value is kept together with the end of the step. Other values are
	// kept together with the success of the run.
	Step bool `json:"step,omitempty"`
}

func appendStateJSON(b []byte, list []StateChange) []byte {
	for i, c := range list {
		b = append(b, [...]string{`,"state":[`, `,`}[min(i, 1)]...)
		b = append(b, `{"tool":`...)
		b = appendString(b, c.Tool)
		b = appendOptionalString(b, `,"file":`, c.File)
		b = append(b, `,"key":`...)
		b = appendString(b, c.Key)
		b = append(b, `,"value":`...)
		if len(c.Value) == 0 {
			b = append(b, "null"...)
		}
		b = append(b, c.Value...)
		b = appendOptionalString(b, `,"merge":`, c.Merge)
		b = appendFlag(b, `,"step":true`, c.Step)
		b = append(b, '}')
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}
