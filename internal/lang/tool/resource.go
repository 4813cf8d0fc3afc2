package tool

import (
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Resource says under which address clients of the Model Context Protocol can read the output of a tool.
type Resource struct {
	URI  Text   // may contain names of parameters in braces: docs://pages/{NAME}
	MIME string // media type of the output; "" = text/plain
}

var placeholder = diagnostic.Pattern(`\{([^{}]*)\}`)

// Parameters returns the names of the parameters in the address.
func (r *Resource) Parameters() (names []string) {
	for _, m := range placeholder().FindAllStringSubmatch(r.URI.S, -1) {
		names = append(names, m[1])
	}
	return names
}

var resourceObject = keytable.NewObject("a resource", "The output of the tool as a resource of the Model Context Protocol.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Text("uri", "", "Address of the resource, such as docs://guide. Names of parameters in braces, as in docs://pages/{NAME}, are parts of the address that the client chooses.", func(r *Resource, v Text) { r.URI = v }).AsRequired(),
		mediaType(),
	}
})

// mediaType returns the field mime-type.
func mediaType() keytable.Field {
	f := keytable.String("mime-type", "", "Media type of the output.", func(r *Resource, v string) { r.MIME = v }).WithDefault("text/plain")
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		read(d, into, n)
		kind := into.(*Resource).MIME
		if _, _, err := mime.ParseMediaType(kind); kind != "" && (err != nil || !strings.Contains(kind, "/")) {
			d.Fail(n, "bad-resource", diagnostic.Quote(kind)+" is not a media type", "write a type such as text/plain, application/json or image/png")
		}
	}
	return f
}

// resourceField returns the field resource.
func resourceField() keytable.Field {
	return textOr("resource", "", resourceObject, "Address under which clients of flowrun mcp can read the output of the tool. A text is the address. See mcp.md.", func(t *Draft) *Resource {
		t.Resource = &Resource{}
		return t.Resource
	}, func(r *Resource, v Text) { r.URI = v })
}

// checkResource checks the address of a resource.
func checkResource(d *keytable.Decoder, t *Draft, content []*yaml.Node) {
	if keytable.KeyOf(content, "resource") == nil || t.Resource == nil || t.Resource.URI.S == "" {
		return
	}
	d.Path.Push("resource")
	defer d.Path.Pop()
	report := func(hint, format string, values ...any) {
		reportAt(d, t.Resource.URI.Pos, Error, "bad-resource", "", fmt.Sprintf(format, values...), hint)
	}
	if !validAddress(t.Resource.URI.S) {
		report("write an address with a scheme of your own, such as docs://guide or docs://pages/{NAME}; flowrun: is reserved", "%s cannot be the address of a resource", diagnostic.Quote(t.Resource.URI.S))
	}
	checkAddressParameters(t, report)
}

// validAddress reports whether a text is a URI with a scheme that is not our own.
func validAddress(address string) bool {
	u, err := url.Parse(placeholder().ReplaceAllString(address, "x"))
	scheme, _, _ := strings.Cut(address, ":")
	return err == nil && u.Scheme != "" && u.Scheme != "flowrun" && !strings.Contains(scheme, "{") && u.Host+u.Path+u.Opaque != ""
}

// checkAddressParameters checks that the address has all parameters that are required, because a client gives nothing
// else.
func checkAddressParameters(t *Draft, report func(hint, format string, values ...any)) {
	names := t.Resource.Parameters()
	for _, name := range names {
		if !slices.ContainsFunc(t.Parameters, func(p *Parameter) bool { return p.Name == name }) {
			report("declare it under parameters, or remove it", "the address contains %s, which is not a parameter of the tool", diagnostic.Quote("{"+name+"}"))
		} else if !value.IsVariableName(name) {
			report("use a name of letters, digits and '_'", "the parameter %s cannot be part of an address", diagnostic.Quote(name))
		}
	}
	for _, p := range t.Parameters {
		if p.Required && p.Default == nil && !slices.Contains(names, p.Name) {
			report(fmt.Sprintf("add {%s} to the address, or give the parameter a default", p.Name), "the parameter %s is required, but is not part of the address", diagnostic.Quote(p.Name))
		}
	}
}
