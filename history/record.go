package history

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/rawtext"
)

// MarshalJSON writes a Record so that UnmarshalJSON returns the same texts, also those that are not UTF-8.
func (r Record) MarshalJSON() ([]byte, error) {
	type plain Record
	r.Params, r.Given = rawtext.EncodeMap(r.Params), rawtext.EncodeMap(r.Given)
	r.convert(rawtext.Encode)
	return json.Marshal(plain(r))
}

// UnmarshalJSON reads a Record without rounding the numbers of its parameters.
func (r *Record) UnmarshalJSON(b []byte) error {
	type plain Record
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err := d.Decode((*plain)(r))
	r.Params, r.Given = rawtext.DecodeMap(r.Params), rawtext.DecodeMap(r.Given)
	r.convert(rawtext.Decode)
	return err
}

// convert encodes or decodes the names of parameters, variables, files and folders.
func (r *Record) convert(text func(string) string) {
	r.Withheld = rawtext.List(r.Withheld, text)
	r.Variables = rawtext.List(r.Variables, text)
	e := &r.RunEnv
	e.Workspace, e.Home, e.Temp, e.TrustedProject = text(e.Workspace), text(e.Home), text(e.Temp), text(e.TrustedProject)
	r.Sources = slices.Clone(r.Sources)
	for i := range r.Sources {
		s := &r.Sources[i]
		s.From, s.Name, s.File = text(s.From), text(s.Name), text(s.File)
	}
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
	return rawtext.DecodeMap(r.Params), err
}
