// Package quoting reads scripts for PowerShell, cmd and Python, and finds out what surrounds each
// placeholder in them. It knows no references and no values: package expr asks it, and writes the
// values.
package quoting

// Form is the form of a variable reference, which depends on what surrounds the placeholder.
type Form int

const (
	Unknown Form = iota
	Word         // bare, in a list of words: one "${V}" for each word
	Single       // bare, where exactly one word is allowed: "${V}"
	Inner        // inside "..." or an unquoted here-document: ${V}
	Quoted       // inside '...': '"${V}"'
	Number       // inside arithmetic: the digits themselves
	Comment      // inside a comment: the placeholder stays as it is written
)

// Place is what surrounds a placeholder in a script, as far as all languages have it.
type Place struct {
	Form         Form
	Argument     bool // an argument of a command without -- before it: it may begin with no option
	Number       bool // cmd calculates here: the value has to be a whole number
	Requoted     bool // PowerShell: the author's '...' around it was changed to "..."
	BeforeQuote  bool // cmd: a quote, or another placeholder, follows
	SlashOptions bool // cmd: a leading / begins an option
	Parenthesize bool // Python: a number needs parentheses because of what follows
}

// Placeholder is a placeholder as the readers of PowerShell, cmd and Python know it. They
// set the place.
type Placeholder struct {
	Written     string // as it is in the script
	Name        string // for messages
	Raw         bool   // the value is code on purpose
	MayHoldText bool   // the value can be anything but a proven number
	Place       Place
}

// Piece is a part of a script: text, or a placeholder.
type Piece struct {
	Text        string
	Placeholder *Placeholder
}

// Problem is an error about a placeholder. If UsedAsCode is set, it is a warning: another
// program reads the value as code.
type Problem struct {
	Placeholder   *Placeholder
	Message, Hint string
	UsedAsCode    bool
}
