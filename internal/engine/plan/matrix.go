package plan

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Matrix is a compiled matrix of a step.
type Matrix struct {
	Names            []string // all names that a combination may have
	Axes             []Axis
	Include, Exclude []ValueTemplate // each one is a mapping
}

// Axis is a name of a matrix with its values.
type Axis struct {
	Name   string
	Values ItemList
}

// combination is one item of a matrix. The names keep their order, because the item's key is built from it.
type combination struct {
	names  []string
	values map[string]expr.Value
	added  bool // by include
}

func (c *combination) set(name string, v expr.Value) {
	if _, known := c.values[name]; !known {
		c.names = append(c.names, name)
	}
	c.values[name] = v
}

func (c combination) with(name string, v expr.Value) combination {
	next := combination{names: append([]string(nil), c.names...), values: make(map[string]expr.Value, len(c.values)+1)}
	maps.Copy(next.values, c.values)
	next.set(name, v)
	return next
}

// item returns the combination as an item of the loop.
func (c combination) item() Item {
	all, values := &expr.Watch{}, make(map[string]any, len(c.values))
	for name, v := range c.values {
		all.Add(v)
		values[name] = v.V
	}
	return Item{Value: all.Value(values), Named: c.values, Key: c.key()}
}

// key returns the values joined by dashes, in declared order.
func (c combination) key() string {
	words := make([]string, len(c.names))
	for i, name := range c.names {
		words[i] = value.Plain(c.values[name].V)
	}
	return strings.Join(words, "-")
}

// Combinations returns the items: every combination of the axes, the last axis changing fastest,
// without those that exclude lists. Then each entry of include extends the combinations it fits, or adds a new one.
func (m *Matrix) Combinations(sc expr.Scope) ([]Item, error) {
	list, err := m.product(sc)
	if err == nil {
		list, err = m.exclude(list, sc)
	}
	if err == nil {
		list, err = m.include(list, sc)
	}
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(list))
	for i, c := range list {
		items[i] = c.item()
	}
	return items, nil
}

// maxCombinations limits a product before it is built.
const maxCombinations = 1_000_000

func (m *Matrix) product(sc expr.Scope) ([]combination, error) {
	if len(m.Axes) == 0 {
		return nil, nil // there are only the entries of include
	}
	values, n := make([][]expr.Value, len(m.Axes)), 1
	for i, a := range m.Axes {
		var err error
		if values[i], err = a.Values.List(sc); err != nil {
			return nil, fmt.Errorf("matrix.%s: %w", a.Name, err)
		}
		if n *= len(values[i]); n > maxCombinations {
			return nil, fmt.Errorf("the matrix has more than %d combinations", maxCombinations)
		}
	}
	list := []combination{{values: map[string]expr.Value{}}}
	for i, a := range m.Axes {
		next := make([]combination, 0, len(list)*len(values[i]))
		for _, c := range list {
			for _, v := range values[i] {
				next = append(next, c.with(a.Name, v))
			}
		}
		list = next
	}
	return list, nil
}

func (m *Matrix) exclude(list []combination, sc expr.Scope) ([]combination, error) {
	for _, t := range m.Exclude {
		values, err := t.named(sc)
		if err != nil {
			return nil, fmt.Errorf("matrix.exclude: %w", err)
		}
		kept := list[:0]
		for _, c := range list {
			if !c.fits(values, nil) {
				kept = append(kept, c)
			}
		}
		list = kept
	}
	return list, nil
}

// include applies the include of the matrix: an entry that agrees with existing combinations on the axes adds its other values to
// them; one that fits no combination becomes a new one.
func (m *Matrix) include(list []combination, sc expr.Scope) ([]combination, error) {
	axes := map[string]bool{}
	for _, a := range m.Axes {
		axes[a.Name] = true
	}
	for _, t := range m.Include {
		values, err := t.named(sc)
		if err != nil {
			return nil, fmt.Errorf("matrix.include: %w", err)
		}
		fitted := false
		for i := range list {
			if c := &list[i]; !c.added && c.fits(values, axes) {
				fitted = true
				for _, name := range t.Keys {
					if !axes[name] {
						c.set(name, values[name])
					}
				}
			}
		}
		if !fitted {
			c := combination{values: map[string]expr.Value{}, added: true}
			for _, name := range t.Keys {
				c.set(name, values[name])
			}
			list = append(list, c)
		}
	}
	return list, nil
}

// fits reports whether the combination has these values, for the given names only; nil means all names.
func (c *combination) fits(values map[string]expr.Value, names map[string]bool) bool {
	for name, v := range values {
		if (names == nil || names[name]) && !sameValue(c.values[name].V, v.V) {
			return false
		}
	}
	return true
}

// sameValue compares values by their text: 1 and "1" are the same.
func sameValue(x, y any) bool { return reflect.DeepEqual(x, y) || value.Plain(x) == value.Plain(y) }
