// Package quoting reads scripts for PowerShell, cmd and Python, and finds out what surrounds each
// placeholder in them. Package sh does so for bash and sh, in the same terms. They know no references
// and no values: package expr asks them, and writes the values.
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

// Guard is what a value has to be before it may be used at its place.
type Guard int

const (
	GuardNone    Guard = iota
	GuardNumber        // a number, because the shell calculates here
	GuardName          // an identifier, because the shell reads it as the name of a variable
	GuardScalar        // not "(...)", which declare would read as an array
	GuardOption        // no leading "-", no matter who gave the value
	GuardProgram       // the name of a command, but not of one that evaluates its arguments
)

// Place is what surrounds a placeholder in a script.
type Place struct {
	Form         Form
	Guard        Guard
	Preceding    []*Placeholder // placeholders before it in its word, with nothing else between
	Optional     []*Placeholder // GuardProgram: words before it that are left out if they are empty
	Prefix       string         // GuardProgram: text that is joined to the placeholder
	Suffix       string
	Argument     bool // an argument of a command without -- before it: it may begin with no option
	Requoted     bool // PowerShell: the author's '...' around it was changed to "..."
	BeforeQuote  bool // cmd: a quote, or another placeholder, follows
	SlashOptions bool // cmd: a leading / begins an option
	Parenthesize bool // Python: a number needs parentheses because of what follows
}

// Placeholder is a placeholder as the readers of scripts know it. They set the place.
type Placeholder struct {
	Off         int    // in the script, in bytes
	Written     string // as it is in the script
	Name        string // for messages
	Raw         bool   // the value is code on purpose
	MayHoldText bool   // the value can be anything but a proven number
	Untrusted   bool   // someone other than the author of the definition and the machine decides the text of the value
	Place       Place
}

// Piece is a part of a script: text, or a placeholder.
type Piece struct {
	Text        string
	Placeholder *Placeholder
}

// Kind is what is wrong about a placeholder.
type Kind int

const (
	Misplaced  Kind = iota // this place cannot take a value
	UsedAsCode             // a warning: another program reads the value as code
	Calculated             // a warning: the shell calculates with a copy of the value
)

// Problem is an error or a warning about a placeholder.
type Problem struct {
	Placeholder   *Placeholder
	Kind          Kind
	Message, Hint string
}

// ReadAsCode returns the warning about a value that becomes part of a program's code.
func ReadAsCode(ph *Placeholder, program string) Problem {
	return Problem{Placeholder: ph, Kind: UsedAsCode, Hint: "pass it as an argument or through environment, and read it in the program",
		Message: ph.Name + " is used as code by " + program + ": quotes in the value can change the program"}
}
