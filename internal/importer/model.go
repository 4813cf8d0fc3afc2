// Package importer writes definitions from the files of other tools: crontabs, Makefiles, justfiles, Taskfiles, DAGs of
// Dagu and workflows of GitHub Actions.
//
// A package below reads one format and fills a Result: the tools it found, and a row for everything in the file that
// says how it was carried over. What a reader does not understand it leaves out: a row says so, and so does a comment in the
// definition. It never guesses. Render then turns a tool into the text of a definition.
//
// Texts of a tool are the texts of the file, in which braces have no meaning. A reader that needs a placeholder writes
// Ref(name). Render escapes all other braces that flowrun would read as a placeholder.
package importer

import (
	"fmt"
	"strings"
)

// Status says how a part of the file was carried over.
type Status string

// The three states of a part.
const (
	Exact   Status = "exact"
	Changed Status = "changed"
	LeftOut Status = "left out"
)

// Row says how one part of the file was carried over.
type Row struct {
	What   string `json:"what"`
	Line   int    `json:"line"`
	To     string `json:"to,omitempty"` // the tool, or tool/step
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// Result is what a reader made of a file.
type Result struct {
	Tools []*Tool
	Rows  []Row
}

// Add adds a row.
func (r *Result) Add(what string, line int, to string, s Status, format string, args ...any) {
	r.Rows = append(r.Rows, Row{What: what, Line: line, To: to, Status: s, Reason: fmt.Sprintf(format, args...)})
}

// Drop leaves out a tool: the rows of its parts then say why.
func (r *Result) Drop(t *Tool, reason string) {
	for i, row := range r.Rows {
		if row.To == t.Name || strings.HasPrefix(row.To, t.Name+"/") {
			r.Rows[i].leaveOut(reason)
		}
	}
}

// DropSince leaves out everything that has a row from the row n on.
func (r *Result) DropSince(n int, reason string) {
	for i := n; i < len(r.Rows); i++ {
		if r.Rows[i].Status != LeftOut {
			r.Rows[i].leaveOut(reason)
		}
		r.Rows[i].To = ""
	}
}

func (r *Row) leaveOut(reason string) { r.To, r.Status, r.Reason = "", LeftOut, reason }

// Outcome adds a row that is exact if there are no reasons, and changed otherwise.
func (r *Result) Outcome(what string, line int, to string, reasons []string) {
	status := Exact
	if len(reasons) > 0 {
		status = Changed
	}
	r.Rows = append(r.Rows, Row{What: what, Line: line, To: to, Status: status, Reason: strings.Join(reasons, "; ")})
}

// Tool is a definition to write.
type Tool struct {
	Name, Description string
	Notes             []string // comments at the top
	MailTo            []string // addresses that get an e-mail when it fails
	Parameters        []Parameter
	Environment       []Variable
	Secrets           []string // variables of the process whose values are masked
	EnvFiles          []string // optional
	Dir               string
	Timeout           string
	Platforms         []string
	MaxActiveRuns     int
	Schedules         []Schedule
	Steps             []*Step
	OnSuccess         []*Step
	OnFailure         []*Step
	Finally           []*Step
}

// Parameter is a parameter of a tool.
type Parameter struct {
	Name, Description string
	Default           string
	HasDefault        bool
	List              bool     // an array
	Enum              []string // the allowed values, or nil
}

// Variable is an environment variable.
type Variable struct{ Name, Value string }

// Schedule is a scheduled time.
type Schedule struct {
	Cron, Timezone string
	Overlap        string // allow if it is empty
}

// Step is a step: a script, a question or a group of steps.
type Step struct {
	Name        string
	Notes       []string // comments above the step
	Shell       string   // bash, sh, python, pwsh or cmd
	Script      string
	Approve     string
	Steps       []*Step
	Parallel    bool
	WaitFor     []string // replaces the order of the file if it is not nil
	When        string   // a condition, with Ref
	Dir         string
	Input       string
	Environment []Variable
	Secrets     []string
	Timeout     string
	Attempts    int    // 0: no retry
	Delay       string // before the first retry
	Doubles     bool   // the delay doubles with each retry
	MaxDelay    string
	ExitCodes   []int // after which the step is retried; all if it is empty
	Tolerate    bool
	Interactive bool
	Inputs      []string // of cache
	Outputs     []string
	Matrix      []Axis
	Exclude     [][]Variable
	Include     [][]Variable
	MaxParallel int
	FailFast    bool
	Finally     []*Step
	Declared    []string // names of outputs that it may write, which are texts
	Container   *Container
}

// Container is the container of a step, which has a network.
type Container struct {
	Image    string
	Services []Service
}

// Service is a container beside that of a step.
type Service struct {
	Name, Image       string
	Env               []Variable
	Health            string // a command, or ""
	Interval, Timeout string // of the health check
	Retries           int
}

// Axis is one list of a matrix.
type Axis struct {
	Name   string
	Values []string
}
