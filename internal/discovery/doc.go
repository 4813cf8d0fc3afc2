// Package discovery finds tools by a command that tells of them, and calls them by
// another (S4-030 to S4-036).
package discovery
