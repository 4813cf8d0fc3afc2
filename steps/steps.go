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
//
//	type Chunk struct {
//		Step    dag.ID
//		Attempt int     // from 1; a fallback counts as the last attempt
//		Stream  Streams // Stdout or Stderr
//		// Text contains one or more whole lines with their newlines, with secrets masked. Only the end
//		// of a stream, and lines over 64 KiB, have no newline at the end. Text is valid until the
//		// function that received it returns.
//		Text []byte
//	}
type Chunk = steps.Chunk

// Attachment is a terminal while one step has it; see flowrun.Terminal.
//
//	type Attachment interface {
//		// Read returns what the person types, byte for byte. It fails when the person has left.
//		io.Reader
//		// Write shows output of the step as it arrives, with secrets masked. Until it returns, no more
//		// output of the step is read.
//		io.Writer
//		// Size delivers the current size of the window, and then every new one. It may return nil if
//		// the size is unknown.
//		Size() <-chan Size
//		// Close gives the terminal back in its former state. It must end a Read or Write that is in
//		// progress.
//		Close() error
//	}
type Attachment = terminal.Attachment

// Size is the size of a terminal's window.
//
//	type Size struct{ Rows, Cols int }
type Size = terminal.Size

// Egress asks for the proxy of an enforced step; see flowrun.Config.Egress and package steps/egress.
//
//	type Egress struct {
//		Proxy    net.Listener // programs in the namespace expect a proxy for HTTP here
//		Password string       // that programs give to the proxy; "" if only they can reach it
//		Forwards []EgressForward
//		// Host returns an error if the host of a name or address may not be reached.
//		Host func(host, port string) error
//		// Address returns an error if a host may not be reached at the address to which its name resolves.
//		Address func(host, port string, to netip.Addr) error
//		// Refused is called for each refusal, with the loopback address at which the program reached the proxy; it is
//		// invalid for a forward. It must be safe for concurrent use.
//		Refused func(client netip.Addr, host, port string, err error)
//	}
type Egress = limitednet.Egress

// EgressForward is a port that the proxy of an enforced step forwards.
//
//	type EgressForward struct {
//		net.Listener
//		Host, Port string
//	}
type EgressForward = limitednet.EgressForward
