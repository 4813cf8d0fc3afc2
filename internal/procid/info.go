package procid

import "fmt"

// Info names a process.
type Info struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`           // the program's short name
	Step string `json:"step,omitempty"` // the step it carries the marker of
}

func (i Info) String() string { return fmt.Sprintf("%s (pid %d)", i.Name, i.PID) }
