package token

// Budget is the number of characters that lookahead may still visit. All readers of one input
// share it. It keeps the cost linear in the length of the input, however searches are nested.
type Budget int

// NewBudget returns the budget for an input of this size.
func NewBudget(size int) *Budget {
	b := Budget(32*size + 4096)
	return &b
}

// Use subtracts n characters.
func (b *Budget) Use(n int) { *b -= Budget(n) }

// Exhausted reports whether nothing is left.
func (b *Budget) Exhausted() bool { return *b < 0 }
