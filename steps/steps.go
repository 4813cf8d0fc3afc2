// Package steps has what a program sees of the commands of steps while they run: their streamed output, the terminal of an
// interactive step, and what the proxy of an enforced step must let through. How commands are started, limited and ended is
// documented where it is done, in internal/engine/steps.
package steps

import (
	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/terminal"
)

// Chunk is a piece of the output of a step with output.mode: stream; see flowrun.WithStream.
type Chunk = steps.Chunk

// Attachment is a terminal while one step has it; see flowrun.Terminal.
type Attachment = terminal.Attachment

// Size is the size of a terminal's window.
type Size = terminal.Size

// Egress asks for the proxy of an enforced step; see flowrun.Config.Egress and package steps/egress.
type Egress = limitednet.Egress

// EgressForward is a port that the proxy of an enforced step forwards.
type EgressForward = limitednet.EgressForward
