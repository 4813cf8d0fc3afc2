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
