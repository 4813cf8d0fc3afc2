package steps

import (
	"errors"
	"io"
	"strings"

	"github.com/flowrun/flowrun/dag"
)

// Text returns a text as the stdout of a step that is not a command. It is kept in the log like
// other output; references can read all of it.
func (s *Session) Text(path dag.ID, attempt int, text string) (*dag.Output, error) {
	return s.Stream(path, attempt, Stdout, text)
}

// Stream is Text for either stream.
func (s *Session) Stream(path dag.ID, attempt int, which Streams, text string) (*dag.Output, error) {
	if text == "" {
		return nil, nil
	}
	shown := s.mask.String(text)
	out := &dag.Output{Raw: text, Size: int64(len(shown)), Masked: shown != text, Inline: shown}
	if len(shown) > dag.InlineLimit {
		out.Inline = string(trimPartialRune([]byte(shown[:dag.InlineLimit]), out.Size))
	}
	if s.options.Recorded && out.Whole() || s.options.LogDir == "" && len(shown) <= dag.InlineLimit {
		return out, nil
	}
	file, err := s.newLogFile(path, attempt, which)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file.File, strings.NewReader(shown))
	if err = errors.Join(err, file.keep(), file.Close()); err != nil {
		return nil, err
	}
	out.File = file.path
	setDigest(out, []byte(text), outputLimits{keep: true})
	return out, nil
}
