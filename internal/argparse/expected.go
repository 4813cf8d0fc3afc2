package argparse

// Example is a call as it should be, as a JSON object: what a refusal shows as the expected
// format.
func Example(s *Schema) string { return example(s) }
