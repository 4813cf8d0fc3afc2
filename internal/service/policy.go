package service

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
)

// Policy returns the reason why a tool may not run, nil if it may. A nil Policy allows every tool.
type Policy func(*engine.Plan) error

// Allows returns an ErrRefused with the reason why the tool may not run, nil if it may.
func (p Policy) Allows(plan *engine.Plan) error {
	if p == nil {
		return nil
	}
	if err := p(plan); err != nil {
		return fmt.Errorf("%w: %w", outcome.ErrRefused, err)
	}
	return nil
}
