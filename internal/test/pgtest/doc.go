// Package pgtest starts a PostgreSQL server for a test, with a data folder of its own that is gone with the test. The
// server refuses to run as root, so a test of root starts it as the user postgres, whom the Debian package makes.
package pgtest
