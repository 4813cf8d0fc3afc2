package steps

import "github.com/flowrun/flowrun/dag"

// Text returns a text as the stdout of a step that is not a command. It is kept in the log like
// other output; references can read all of it.
func (s *Session) Text(path dag.ID, attempt int, text string) (*dag.Output, error) {
	return s.Stream(path, attempt, Stdout, text)
}

// Stream is Text for either stream.
func (s *Session) Stream(path dag.ID, attempt int, which Streams, text string) (*dag.Output, error) {
	return s.keeper.Text(path, attempt, which.log(), text)
}
