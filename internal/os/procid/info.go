package procid

import "fmt"

// Info describes a process for messages and JSON.
type Info struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`           // the program's short name
	Step string `json:"step,omitempty"` // the path in its MarkStep
}

func (i Info) String() string { return fmt.Sprintf("%s (pid %d)", i.Name, i.PID) }
