package flowrun

import (
	"fmt"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/gostep"
	"github.com/flowrun/flowrun/steps"
)

// Content is what the run answers a model and a person: the content of the step that
// gave the output, where it gave one; what the output says where it is a JSON object with
// llmContent and perhaps returnDisplay, in the form of Content's own JSON; else the output
// as text.
func (r *Result) Content() *Content {
	if c, ok := r.answer.(*Content); ok {
		return c
	}
	if c := gostep.ReadContent(r.Output); c != nil {
		return c
	}
	return &Content{Parts: []Part{{Text: r.Output + r.cutNote()}}}
}

// cutNote says of an output that is not all there that it is not, "" for others: a model
// would take it for the whole.
func (r *Result) cutNote() string {
	if r.output == nil || r.output.Size <= steps.DefaultLimit || len(r.Output) < steps.DefaultLimit-utf8.UTFMax {
		return ""
	}
	return fmt.Sprintf("\n[cut here: the output has %d bytes; flowrun logs %s has all of it]", r.output.Size, r.ID)
}
