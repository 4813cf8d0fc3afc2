package value

// ParamsError is everything that is wrong with the parameters of one call.
type ParamsError struct {
	Tool     string
	Problems []ParamProblem
}

// ParamProblem is what is wrong with one parameter. Code is one of missing,
// unknown, type, validation, transform, default, nul, dash, refused.
type ParamProblem struct {
	Name    string `json:"name"` // with what leads to the value inside it, as in opts[0].name; "" for all of them together
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	top string // the parameter, where Name leads into its value
}
