package mcp_test

import "io"

// stream is one end of a connection.
type stream struct {
	in  io.ReadCloser
	out io.WriteCloser
}

// pipes returns both ends of a connection.
func pipes() (a, b stream) {
	fromB, toA := io.Pipe()
	fromA, toB := io.Pipe()
	return stream{fromB, toB}, stream{fromA, toA}
}
