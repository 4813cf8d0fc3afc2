package dag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrWithheld means that outputs contained a secret, so that only their masked form was recorded.
var ErrWithheld = errors.New("it contained a secret, so only its masked form was stored")

// Outputs are the declared outputs of a step or tool: values by name. It does not change.
type Outputs struct {
	// Raw holds the values that references read; numbers are json.Numbers. It may contain
	// secrets, so it never leaves the process. It is nil for outputs that were read from a
	// journal.
	Raw map[string]any `json:"-"`
	// Values is Raw as a JSON object, with secrets masked.
	Values json.RawMessage `json:"values"`
	// Masked means that secrets were replaced in Values.
	Masked bool `json:"masked,omitempty"`
	// Digest names a copy of Raw that is kept elsewhere, if Values is masked; "" if there is none.
	Digest string `json:"digest,omitempty"`
}

// NewOutputs returns outputs with these values. masked are the same values with secrets masked.
func NewOutputs(raw, masked map[string]any) (*Outputs, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot write outputs as JSON: %w", err)
	}
	shown, err := json.Marshal(masked)
	if err != nil {
		return nil, fmt.Errorf("cannot write outputs as JSON: %w", err)
	}
	return &Outputs{Raw: raw, Values: shown, Masked: !bytes.Equal(text, shown)}, nil
}

// All returns the values by name. The caller must not change them. The error is ErrWithheld if
// only their masked form is known.
func (o *Outputs) All() (map[string]any, error) {
	switch {
	case o == nil || o.Raw != nil:
		return o.raw(), nil
	case o.Masked:
		return nil, ErrWithheld
	}
	return o.Shown()
}

func (o *Outputs) raw() map[string]any {
	if o == nil {
		return nil
	}
	return o.Raw
}

// Shown returns the values by name, with secrets masked.
func (o *Outputs) Shown() (all map[string]any, err error) {
	if o == nil {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(o.Values))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("cannot read recorded outputs: %w", err)
	}
	return all, nil
}

// withoutRaw returns the outputs without the values that only references read.
func (o *Outputs) withoutRaw() *Outputs {
	if o == nil || o.Raw == nil {
		return o
	}
	slim := *o
	slim.Raw = nil
	return &slim
}

func (o *Outputs) appendJSON(b []byte) []byte {
	if o == nil {
		return b
	}
	b = append(b, `,"outputs":{"values":`...)
	if o.Values == nil {
		b = append(b, "null"...)
	}
	b = append(b, o.Values...)
	b = appendFlag(b, `,"masked":true`, o.Masked)
	b = appendOptionalString(b, `,"digest":`, o.Digest)
	return append(b, '}')
}
