package funcschema

import (
	"bytes"
	"encoding/json"
	"slices"
)

// ordered is a JSON object whose members keep their order, in which models read them.
type ordered []member

type member struct {
	key   string
	value any // nil, bool, string, json.Number, []any or ordered
}

// readOrdered decodes one JSON value.
func readOrdered(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return nextOrdered(d)
}

func nextOrdered(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := nextOrdered(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	case json.Delim('{'):
		o := ordered{}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := nextOrdered(d)
			if err != nil {
				return nil, err
			}
			o = append(o, member{key.(string), v})
		}
		_, err = d.Token()
		return o, err
	}
	return t, nil
}

// MarshalJSON writes the members in their order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := encode(m.key)
		if err != nil {
			return nil, err
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (o ordered) get(key string) any {
	if i := slices.IndexFunc(o, func(m member) bool { return m.key == key }); i >= 0 {
		return o[i].value
	}
	return nil
}

func (o ordered) has(key string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.key == key })
}

func (o ordered) list(key string) []any {
	list, _ := o.get(key).([]any)
	return list
}

func (o ordered) text(key string) string {
	s, _ := o.get(key).(string)
	return s
}

// without returns the object without the given members.
func (o ordered) without(keys ...string) ordered {
	var rest ordered
	for _, m := range o {
		if !slices.Contains(keys, m.key) {
			rest = append(rest, m)
		}
	}
	return rest
}

// with returns the object with a member added or replaced.
func (o ordered) with(key string, value any) ordered {
	o = slices.Clone(o)
	for i := range o {
		if o[i].key == key {
			o[i].value = value
			return o
		}
	}
	return append(o, member{key, value})
}
