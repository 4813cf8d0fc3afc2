package plan

import (
	"github.com/flowrun/flowrun/tool"
)

// Given is values of a definition as parameters of a call. A number or boolean for a
// parameter of type string is the text in the file, such as 1.10.
func (p *Plan) Given(list []tool.Entry) map[string]any {
	given := make(map[string]any, len(list))
	for _, e := range list {
		given[e.Key] = e.Value.Data()
		if prm := p.Param(e.Key); prm != nil && prm.Def.Type == "string" && e.Value.Written() != "" {
			given[e.Key] = e.Value.Written()
		}
	}
	return given
}
