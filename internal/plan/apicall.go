package plan

import (
	"errors"
)

// Called is the plan of a tool that a script calls.
func (p *Plan) Called(name string) (*Plan, error) {
	if p.Callable == nil {
		return nil, errors.New("this tool was not found in a library")
	}
	return p.Callable(name)
}
