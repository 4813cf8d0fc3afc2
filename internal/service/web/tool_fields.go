package web

import (
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// formField is a parameter as a form needs it.
type formField struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Help        string   `json:"help,omitempty"`
	Required    bool     `json:"required"` // it must be given
	Default     any      `json:"default,omitempty"`
	Enum        []any    `json:"enum,omitempty"`
	Examples    []any    `json:"examples,omitempty"`
	Pattern     string   `json:"pattern,omitempty"` // RE2
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
	MinLength   *int     `json:"min_length,omitempty"`
	MaxLength   *int     `json:"max_length,omitempty"`
	Secret      bool     `json:"secret,omitempty"`
	Path        bool     `json:"path,omitempty"`
	Deprecated  bool     `json:"deprecated,omitempty"`
	Alternative string   `json:"alternative,omitempty"` // the parameter to use instead
}

// fieldsOf returns the parameters of a tool in their order. Values of secret ones are left out.
func fieldsOf(p *engine.Plan) []formField {
	fields := []formField{}
	for _, d := range p.Definition.Parameters {
		f := formField{Name: d.Name, Type: d.Type, Description: d.Description, Help: d.DetailedHelp, Required: d.Required && d.Default == nil,
			Enum: dataOf(d.Validation.Enum), Minimum: d.Validation.Minimum, Maximum: d.Validation.Maximum, MinLength: d.Validation.MinLength, MaxLength: d.Validation.MaxLength,
			Secret: p.Secret(d.Name), Path: d.Path, Deprecated: d.Deprecated, Alternative: d.DeprecatedAlternative.S}
		if d.Validation.Pattern != nil {
			f.Pattern = d.Validation.Pattern.S
		}
		if !f.Secret {
			f.Examples = dataOf(d.Examples)
			if d.Default != nil {
				f.Default = d.Default.Data()
			}
		}
		fields = append(fields, f)
	}
	return fields
}

func dataOf(list []tool.Value) (data []any) {
	for _, v := range list {
		data = append(data, v.Data())
	}
	return data
}
