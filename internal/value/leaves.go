package value

// Leaves are the scalars in a value, as text.
func Leaves(v any) []string {
	var list []string
	switch v := v.(type) {
	case nil, bool:
	case []any:
		for _, e := range v {
			list = append(list, Leaves(e)...)
		}
	case map[string]any:
		for _, e := range v {
			list = append(list, Leaves(e)...)
		}
	default:
		list = append(list, Plain(v))
	}
	return list
}
