package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/flowrun/flowrun/internal/proc"
)

// Main returns: there is no helper on this platform.
func Main() {}

// Client is a proc.Host that starts nothing on this platform.
type Client struct{}

// New makes a Client.
func New(mark, binary string) *Client { return &Client{} }

// Start says that there is no helper on this platform.
func (*Client) Start(proc.Spec) (proc.Process, error) {
	return nil, errors.New("cannot start the helper: not available on this platform; run without it")
}

// Close has nothing to end.
func (*Client) Close(context.Context, time.Duration) (proc.Report, error) {
	return proc.Report{}, nil
}
