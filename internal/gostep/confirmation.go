package gostep

// Confirmation is what a person is shown who is asked about a call of a model, beside
// what the Preview says (S4-007).
type Confirmation struct {
	Title string    `json:"title"`          // what will happen, in one sentence
	Text  string    `json:"text,omitempty"` // more of it: a command, a plan
	Diff  *FileDiff `json:"diff,omitempty"` // what would change in a file
}
