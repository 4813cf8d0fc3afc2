package plan

// RandomID is the variable of a text that only this run has.
const RandomID = "RANDOM_ID"
