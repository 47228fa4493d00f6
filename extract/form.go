package extract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/seine-go/seine/internal/charset"
	"github.com/seine-go/seine/internal/weburl"
)

// MaxFormFields bounds the controls of a form, options of selects included.
const MaxFormFields = 10_000

// Form is a form of a page, as it stands there. It is filled by Set, Add and Attach and submitted by Submit, by the rules of
// the HTML standard (4.10.21). A Form is used by one goroutine at a time.
type Form struct {
	Action  string // URL that the form is sent to, absolute
	Method  string // "GET", "POST", or "DIALOG", which sends nothing
	Enctype string // of POST: "application/x-www-form-urlencoded", "multipart/form-data" or "text/plain"
	Charset string // encoding of what is sent, by its name in the Encoding standard

	fields []formField
	page   weburl.URL
	base   weburl.URL
	files  int // attached
	press  int // number of the button that was chosen by Press, from 1; 0: none
}

// formField is a control of a form, or one option of a select.
type formField struct {
	name, value string
	kind        string // type of an input or button, as it counts; "select", "textarea"
	group       int    // number of the control: the options of a select share it
	on          bool   // whether it is sent: an input always, a box when it is checked, an option when it is selected
	many        bool   // may have several options, files or addresses
	off         bool   // disabled
	dirName     string // name under which the direction of the value is sent; "": it is not
	dir         string
	scale       *formScale // of a range
	says        formSays   // of a button
	files       []formFile
}

// formSays is what a button says in place of its form: nil and "" where it says nothing.
type formSays struct {
	action          *string
	method, enctype string
}

type formFile struct {
	name, mediaType string
	data            []byte
}

// Errors of forms.
var (
	ErrNoForm   = errors.New("seine: extract: no form")
	ErrFormSize = fmt.Errorf("seine: extract: the form has more than %d fields", MaxFormFields)
	ErrDialog   = errors.New("seine: extract: a form of a dialog sends nothing")
)

// FormFieldError names a field of a form that cannot be filled so.
type FormFieldError struct{ Name, Reason string }

// Error returns "seine: extract: form field NAME: reason".
func (e *FormFieldError) Error() string {
	return fmt.Sprintf("seine: extract: form field %q: %s", cut(e.Name), e.Reason)
}

// Form returns the first form that a CSS selector matches; "form" is the first of the page. The page needs its URL
// (DocumentOptions.URL). The errors are ErrNoForm, ErrFormSize, and those of Find.
func (d *Document) Form(selector string) (*Form, error) {
	found, err := d.Find(selector)
	if err != nil {
		return nil, err
	}
	for _, node := range found.Nodes {
		if isHTML(node) && node.Data == "form" {
			return d.form(node)
		}
	}
	return nil, ErrNoForm
}

func (d *Document) form(node *html.Node) (*Form, error) {
	page, err := weburl.Parse(d.o.URL)
	if err != nil {
		return nil, fmt.Errorf("seine: extract: %w", err)
	}
	f := &Form{Method: formMethod(attrText(node, "method")), Enctype: formEnctype(attrText(node, "enctype")), Charset: d.formCharset(node), page: page, base: page}
	if h, err := d.Hints(0); err == nil && h.Base != "" {
		if base, err := weburl.Parse(h.Base); err == nil {
			f.base = base
		}
	}
	action, err := f.target(strings.TrimSpace(attrText(node, "action")))
	if err != nil {
		return nil, fmt.Errorf("seine: extract: action of the form: %w", err)
	}
	f.Action = action.Href()
	tree, err := d.tree()
	if err != nil {
		return nil, err
	}
	owners, err := d.owners()
	if err != nil {
		return nil, err
	}
	c := formCollector{form: f, node: node, owners: owners, id: formID(node, tree.root), directions: map[*html.Node]string{}}
	if c.walk(tree.root, nil, false); len(f.fields) > MaxFormFields {
		return nil, ErrFormSize
	}
	c.radios()
	return f, nil
}

// formCharset is the encoding that a form is sent in: the first of accept-charset that is known, or that of the page. UTF-16
// is sent as UTF-8.
func (d *Document) formCharset(node *html.Node) string {
	name := d.found().Name
	for label := range strings.FieldsSeq(attrText(node, "accept-charset")) {
		if known := charset.Lookup(label); known != "" {
			name = known
			break
		}
	}
	if strings.HasPrefix(name, "utf-16") || charset.Lookup(name) == "" {
		return "utf-8"
	}
	return name
}

func formMethod(s string) string {
	switch s = strings.ToUpper(s); s {
	case "POST", "DIALOG":
		return s
	}
	return "GET"
}

func formEnctype(s string) string {
	switch s = strings.ToLower(s); s {
	case multipartForm, plainForm:
		return s
	}
	return urlencodedForm
}

// Fields returns the names of the form's fields, each once, in their order.
func (f *Form) Fields() []string {
	var names []string
	for _, field := range f.fields {
		if field.name != "" && !slices.Contains(names, field.name) {
			names = append(names, field.name)
		}
	}
	return names
}

// Value returns what the form would send for a field, the first of several values; "" if nothing.
func (f *Form) Value(name string) string {
	for _, field := range f.fields {
		if field.name == name && field.on && !field.off {
			return field.value
		}
	}
	return ""
}

// Set fills the fields of a name. Inputs that hold text take the values one after the other, and those that are left become
// empty (a range goes to its middle, a color is black); of boxes, radio buttons and selects those are chosen whose value is listed,
// all others are not. Hidden fields are set like others. A name that no field has, values that no box or option has, more values
// than there are inputs, and values that an input cannot hold as they are (two lines of text, a date that is none, a number beyond
// a range) are a *FormFieldError, and nothing is changed.
func (f *Form) Set(name string, values ...string) error {
	fields := slices.Clone(f.fields)
	left, found, groups := slices.Clone(values), false, map[int]int{}
	chosen := 0
	for i := range fields {
		c := &fields[i]
		if c.name != name || c.kind == "submit" || c.kind == "image" || c.kind == "file" {
			continue
		}
		found = true
		if c.kind != "checkbox" && c.kind != "radio" && c.kind != "select" {
			value := ""
			if len(left) > 0 {
				value, left = left[0], left[1:]
			}
			if c.value = c.sanitize(value); value != "" && !strings.EqualFold(c.value, value) {
				return &FormFieldError{name, fmt.Sprintf("an input of type %s cannot hold the value as it is", c.kind)}
			}
			continue
		}
		if c.on = slices.Contains(values, c.value); !c.on {
			continue
		}
		if c.off {
			return &FormFieldError{name, fmt.Sprintf("%q is disabled", cut(c.value))}
		}
		left = slices.DeleteFunc(left, func(v string) bool { return v == c.value })
		group := c.group
		if c.kind == "radio" {
			group = 0
		}
		if groups[group]++; groups[group] > 1 && !c.many && c.kind != "checkbox" {
			c.on = false // of equal ones the first
			chosen++
		}
	}
	switch {
	case !found:
		return &FormFieldError{name, "the form has none of the name"}
	case len(left) > 0:
		return &FormFieldError{name, fmt.Sprintf("no place for the value %q", cut(left[0]))}
	case chosen > 0 && len(values) > 1:
		return &FormFieldError{name, "one value can be chosen"}
	}
	f.fields = fields
	return nil
}

// Add adds a field that the form does not have, as scripts do.
func (f *Form) Add(name, value string) error {
	if len(f.fields) >= MaxFormFields {
		return ErrFormSize
	}
	f.fields = append(f.fields, formField{name: name, value: value, kind: "hidden", on: true})
	return nil
}

// Press chooses the button that Submit("") presses: the first of the name with the value that is not disabled. Buttons may share a
// name, or have none. Without one it is a *FormFieldError, and the choice stays as it was.
func (f *Form) Press(name, value string) error {
	for i := range f.fields {
		if c := &f.fields[i]; c.isButton() && c.name == name && c.value == value {
			f.press = i + 1
			return nil
		}
	}
	return &FormFieldError{name, fmt.Sprintf("the form has no button of the name with the value %q", cut(value))}
}

// isButton says whether a field is a button that submits and can be pressed.
func (f *formField) isButton() bool { return (f.kind == "submit" || f.kind == "image") && !f.off }

// Attach puts a file into the first file input of a name that has none yet or takes several. The form sends its bytes only if its
// Enctype is multipart/form-data, else the file's name. An empty media type means application/octet-stream. There can be
// MaxFormFields files in all; beyond that the error is ErrFormSize. Attach keeps data.
func (f *Form) Attach(name, fileName, mediaType string, data []byte) error {
	if strings.ContainsAny(mediaType, "\r\n") {
		return &FormFieldError{name, "the media type holds a line break"}
	}
	if f.files >= MaxFormFields {
		return ErrFormSize
	}
	for i := range f.fields {
		if c := &f.fields[i]; c.name == name && c.kind == "file" && (c.many || len(c.files) == 0) {
			c.files = append(c.files, formFile{fileName, mediaType, data})
			f.files++
			return nil
		}
	}
	return &FormFieldError{name, "the form has no file input of the name that is free"}
}
