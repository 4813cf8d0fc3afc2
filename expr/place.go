package expr

// form is the form of a variable reference, which depends on what surrounds the placeholder.
type form int

const (
	formUnknown form = iota
	formWord         // bare, in a list of words: one "${V}" for each word
	formSingle       // bare, where exactly one word is allowed: "${V}"
	formInner        // inside "..." or an unquoted here-document: ${V}
	formQuoted       // inside '...': '"${V}"'
	formNumber       // inside arithmetic: the digits themselves
	formComment      // inside a comment: the placeholder stays as it is written
)

// place is what surrounds a placeholder in a script, as far as all languages have it.
type place struct {
	form         form
	argument     bool // an argument of a command without -- before it: it may begin with no option
	number       bool // cmd calculates here: the value has to be a whole number
	requoted     bool // PowerShell: the author's '...' around it was changed to "..."
	beforeQuote  bool // cmd: a quote, or another placeholder, follows
	slashOptions bool // cmd: a leading / begins an option
	parenthesize bool // Python: a number needs parentheses because of what follows
}

// scriptPlaceholder is a placeholder as the readers of PowerShell, cmd and Python know it. They
// set the place.
type scriptPlaceholder struct {
	written     string // as it is in the script
	name        string // for messages
	raw         bool   // the value is code on purpose
	mayHoldText bool   // the value can be anything but a proven number
	place       place
}

// scriptPiece is a part of a script: text, or a placeholder.
type scriptPiece struct {
	text        string
	placeholder *scriptPlaceholder
}

// scriptProblem is an error about a placeholder. If usedAsCode is set, it is a warning: another
// program reads the value as code.
type scriptProblem struct {
	placeholder   *scriptPlaceholder
	message, hint string
	usedAsCode    bool
}
