package gostep

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Typed turns a function over Go types into a StepFunc. The tool's parameters are decoded into In by the names of
// encoding/json; what f returns is the step's result. A parameter that does not fit In fails the step, which is not
// retried.
func Typed[In, Out any](f func(context.Context, In) (Out, error)) StepFunc {
	return func(ctx context.Context, in *StepInput) (any, error) {
		v, err := Into[In](in.Params)
		if err != nil {
			return nil, fmt.Errorf("cannot read the parameters as a %T: %w", v, err)
		}
		out, err := f(ctx, v)
		if err != nil {
			return nil, err
		}
		return out, nil
	}
}

// TypedTool returns a tool written in Go over Go types: the fields of the struct In are its parameters (see
// ParametersOf), what f returns is its result. The error names a field that cannot be a parameter.
func TypedTool[In, Out any](name, description string, f func(context.Context, In) (Out, error)) (GoTool, error) {
	params, err := ParametersOf[In]()
	if err != nil {
		return GoTool{}, fmt.Errorf("cannot create the tool %s: %w", name, err)
	}
	return GoTool{Name: name, Description: description, Parameters: params, Run: Typed(f)}, nil
}

// ParametersOf describes the fields of a struct as parameters. A field has the name that encoding/json gives it. Its
// tags set the rest: description:"...", default:"...", enum:"a,b". It is required unless it has a default, is a
// pointer or is omitempty. Slices are arrays, structs and maps are objects.
func ParametersOf[T any]() ([]*tool.Parameter, error) {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("parameters must be a struct, not %s", t)
	}
	var list []*tool.Parameter
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported() || name == "-":
			continue
		case f.Anonymous:
			return nil, fmt.Errorf("the embedded field %s cannot be a parameter: write its fields out", f.Name)
		case name == "":
			name = f.Name
		}
		p, err := parameterOf(name, f)
		if err != nil {
			return nil, err
		}
		p.Required = p.Default == nil && f.Type.Kind() != reflect.Pointer && !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero")
		list = append(list, p)
	}
	return list, nil
}

func parameterOf(name string, f reflect.StructField) (*tool.Parameter, error) {
	p := &tool.Parameter{Name: name, Description: f.Tag.Get("description"), Type: typeName(f.Type)}
	if p.Type == "" {
		return nil, fmt.Errorf("the field %s cannot be a parameter: its type %s is not supported", f.Name, f.Type)
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		v, err := tagValue(p.Type, text)
		if err != nil {
			return nil, fmt.Errorf("the default of field %s: %w", f.Name, err)
		}
		p.Default = &v
	}
	if enum := f.Tag.Get("enum"); enum != "" {
		for _, word := range strings.Split(enum, ",") {
			v, err := tagValue(p.Type, word)
			if err != nil {
				return nil, fmt.Errorf("the enum of field %s: %w", f.Name, err)
			}
			p.Validation.Enum = append(p.Validation.Enum, v)
		}
	}
	return p, nil
}

// typeName returns the parameter type for a Go type, "" for none.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Map, reflect.Struct:
		return "object"
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 {
		return "number"
	}
	return ""
}

// tagValue parses a value from a struct tag, for the types that fit in one word.
func tagValue(typ, text string) (tool.Value, error) {
	switch typ {
	case "string":
		return tool.Value{Scalar: text, Text: &tool.Text{S: text}}, nil
	case "boolean":
		b, err := strconv.ParseBool(text)
		return tool.Value{Scalar: b}, err
	case "number":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return tool.Value{Scalar: n}, nil
		}
		n, err := strconv.ParseFloat(text, 64)
		return tool.Value{Scalar: n}, err
	}
	return tool.Value{}, fmt.Errorf("%q cannot be a value of type %s", text, typ)
}

// ParamsOf returns the fields of a struct, or the entries of a map, as parameters for Engine.Run, encoded as
// encoding/json does, without rounding numbers.
func ParamsOf(v any) (map[string]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("cannot convert a %T to parameters: %w", v, err)
	}
	var m map[string]any
	if err := value.DecodeJSON(b, &m); err != nil || m == nil {
		return nil, fmt.Errorf("cannot convert a %T to parameters: it is not a JSON object", v)
	}
	return m, nil
}
