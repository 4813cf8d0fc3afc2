package flowrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Decode reads the run's output, which must be JSON, into v. The error tells also
// when the run did not end well: what it printed then is no result.
func (r *Result) Decode(v any) error {
	if err := r.Err(); err != nil {
		return err
	}
	if strings.TrimSpace(r.Output) == "" {
		return errors.New("cannot decode the run's output: it printed nothing")
	}
	if err := json.Unmarshal([]byte(r.Output), v); err != nil {
		return fmt.Errorf("cannot decode the run's output: %w", err)
	}
	return nil
}
