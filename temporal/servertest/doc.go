// Package servertest tests flowrun on a real Temporal server: runs end there as they do locally, survive the loss
// of workers, of the server and of the network, and cost what the documentation says. It is a module of its own,
// because the server has more than a thousand packages that only these tests need.
package servertest
