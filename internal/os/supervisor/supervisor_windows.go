package supervisor

import (
	"context"
	"errors"
	"time"

	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Main does nothing: there is no supervisor on this platform.
func Main() {}

// Client is a proc.Host that cannot start processes on this platform.
type Client struct{}

// New returns a Client.
func New(mark, binary string, d procid.Domain) *Client { return &Client{} }

// Start fails: there is no supervisor on this platform.
func (*Client) Start(proc.Spec) (proc.Process, error) {
	return nil, errors.New("cannot start the supervisor process: it is not available on this platform; run without it")
}

// Domain returns none.
func (*Client) Domain() procid.Domain { return 0 }

// Close does nothing.
func (*Client) Close(context.Context, time.Duration) (proc.Report, error) {
	return proc.Report{}, nil
}
