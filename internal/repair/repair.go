package repair

import "encoding/json"

// Repair is one thing that was not as it should have been: in the text (Result.Repairs),
// or in the type of a value (Result.Coercions).
type Repair struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`   // opts[0].name; "" for the whole
	Offset int    `json:"offset"` // where in the input it begins, in bytes
}

// Result are the arguments of a call. Values are string, bool, nil, json.Number with the
// digits that were written, []any and map[string]any.
type Result struct {
	Value     map[string]any
	Repaired  bool     // the text was no plain JSON object of the parameters
	Repairs   []Repair // of the text
	Coercions []Repair // of values: "10" for a number, a name in another case
	Defaults  []string // names of parameters that took their default, as they are declared
}

// Refusal says why a text is no call. Its JSON form has at most 2 KB.
type Refusal struct {
	Code           string
	Message        string
	Offset         int
	ExpectedFormat string   // an example call, as a JSON object
	Hint           string   // one way out
	Suggestions    []string // names that were probably meant
}

func (r *Refusal) Error() string { return r.Message }

// Parse reads what a model wrote as the arguments of a tool. tool is the name of the tool
// that is called, "" where it is not known.
func Parse(s *Schema, tool string, input []byte) (*Result, *Refusal) {
	var v map[string]any
	if err := json.Unmarshal(input, &v); err != nil {
		return nil, &Refusal{Code: "syntax", Message: err.Error()}
	}
	return &Result{Value: v}, nil
}
