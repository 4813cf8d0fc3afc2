package history

import (
	"bytes"
	"encoding/json"
)

// UnmarshalJSON reads a Record without rounding the numbers of its parameters.
func (r *Record) UnmarshalJSON(b []byte) error {
	type plain Record
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*plain)(r))
}

// RecordedParams returns the Params of a Record in JSON, without rounding numbers and without reading the
// rest. Stores use it.
func RecordedParams(record []byte) (map[string]any, error) {
	var r struct {
		Params map[string]any `json:"params"`
	}
	d := json.NewDecoder(bytes.NewReader(record))
	d.UseNumber()
	err := d.Decode(&r)
	return r.Params, err
}
