package dag

import "strconv"

// Notice is something that people should know of a run beside its status: a failure that was tolerated, a value that was
// missing, a process that is still running. An event carries those that were made since the event before it.
type Notice struct {
	// Code says what it is about. Its meaning never changes.
	Code string `json:"code"`
	// Step is the path of the step, "" for the run.
	Step ID `json:"step,omitempty"`
	// Message is for people; it never contains a secret.
	Message string `json:"message"`
	// Processes are those that it is about; nil for none.
	Processes []Process `json:"processes,omitempty"`
	// Announced means that the message was already shown to the person at the terminal.
	Announced bool `json:"-"`
}

// Process describes a process to people and programs.
type Process struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`           // short name of the program
	Step ID     `json:"step,omitempty"` // path of the step that has started it
}

// Notices returns the notices of the run so far, in the order in which they were made. Those of a step that runs again
// are left out from then on.
func (s *State) Notices() []Notice { return s.notices }

// WithoutSteps returns the notices that are not about these steps or steps inside them.
func WithoutSteps(list []Notice, steps []ID) (kept []Notice) {
	without := setOf(steps)
	for _, n := range list {
		if !without[n.Step] && !anyOf(without, n.Step.Ancestors()) {
			kept = append(kept, n)
		}
	}
	return kept
}

func anyOf(set map[ID]bool, paths []ID) bool {
	for _, path := range paths {
		if set[path] {
			return true
		}
	}
	return false
}

func appendNoticesJSON(b []byte, list []Notice) []byte {
	for i, n := range list {
		b = append(b, [...]string{`,"notices":[`, `,`}[min(i, 1)]...)
		b = append(b, `{"code":`...)
		b = appendString(b, n.Code)
		b = appendOptionalString(b, `,"step":`, string(n.Step))
		b = append(b, `,"message":`...)
		b = appendString(b, n.Message)
		b = appendProcessesJSON(b, n.Processes)
		b = append(b, '}')
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}

func appendProcessesJSON(b []byte, list []Process) []byte {
	for i, p := range list {
		b = append(b, [...]string{`,"processes":[`, `,`}[min(i, 1)]...)
		b = append(b, `{"pid":`...)
		b = strconv.AppendInt(b, int64(p.PID), 10)
		b = append(b, `,"name":`...)
		b = appendString(b, p.Name)
		b = appendOptionalString(b, `,"step":`, string(p.Step))
		b = append(b, '}')
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}
