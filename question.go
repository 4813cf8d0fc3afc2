package flowrun

import (
	"github.com/flowrun/flowrun/internal/waiting"
)

// Questions are what the run asks and nobody has answered, in plan order: of a run that
// rests, or was left by its engine, and of a live one as far as it has come. An answer
// that is on record and not heard yet does not count.
func (p *Past) Questions() []Question {
	if p.finished() {
		return nil
	}
	return waiting.Questions(p.Record.ID, p.Record.Tool, p.state)
}
