package outcome

// Answers is the table of answers.
var Answers = answers

// Rows returns the rows of the table.
func Rows() (rows []Row) {
	for _, r := range table {
		rows = append(rows, r.Row)
	}
	return rows
}
