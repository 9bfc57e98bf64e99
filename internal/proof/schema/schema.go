// Package schema makes JSON Schemas (2020-12) of the types that remit encodes, and compares them with earlier ones.
//
// Its one invariant: a schema says what encoding/json makes of a type, and nothing that a later version may not add to.
package schema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Schema is a JSON Schema.
type Schema map[string]any

var (
	marshalsJSON = reflect.TypeFor[json.Marshaler]()
	marshalsText = reflect.TypeFor[encoding.TextMarshaler]()
)

// Of returns the schema of a value's type, as encoding/json encodes it. Types that encode themselves as JSON are in others;
// one that is not there may be anything.
func Of(value any, others map[reflect.Type]Schema) Schema {
	return maker{others, nil}.of(reflect.TypeOf(value))
}

type maker struct {
	others map[reflect.Type]Schema
	within []reflect.Type // which are being made, for types that contain themselves
}

func (m maker) of(t reflect.Type) Schema {
	if known, is := m.others[t]; is {
		return known
	}
	isText := t.Implements(marshalsText)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		return Schema{"anyOf": []any{m.of(t.Elem()), Schema{"type": "null"}}}
	case t.Implements(marshalsJSON):
		return Schema{}
	case isText:
		return Schema{"type": "string"}
	}
	switch t.Kind() { //nolint:exhaustive // the others are encoded as nothing that is known
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Schema{"type": "integer"}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return Schema{"type": []any{"string", "null"}, "contentEncoding": "base64"}
		}
		return Schema{"type": []any{"array", "null"}, "items": m.of(t.Elem())}
	case reflect.Array:
		return Schema{"type": "array", "items": m.of(t.Elem())}
	case reflect.Map:
		return Schema{"type": []any{"object", "null"}, "additionalProperties": m.of(t.Elem())}
	case reflect.Struct:
		return m.object(t)
	case reflect.Interface:
		return Schema{}
	}
	panic(fmt.Sprintf("there is no schema of %s", t))
}

// object is the schema of a struct. Fields may be added to it at any time.
func (m maker) object(t reflect.Type) Schema {
	for _, outer := range m.within {
		if outer == t {
			return Schema{"type": "object"}
		}
	}
	m.within = append(m.within[:len(m.within):len(m.within)], t)
	properties, required := Schema{}, []any{}
	m.fields(t, properties, &required)
	s := Schema{"type": "object", "properties": properties}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func (m maker) fields(t reflect.Type, properties Schema, required *[]any) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported() && !field.Anonymous:
			continue
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			m.fields(field.Type, properties, required)
			continue
		case name == "":
			name = field.Name
		}
		if _, isHidden := properties[name]; isHidden {
			continue // by a field of the outer struct
		}
		properties[name] = m.of(field.Type)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, name)
		}
	}
}

// Lost lists the places where the newer of two schemas, as JSON reads them, has lost a promise of the older one: a
// field, its type, or that it is always there.
func Lost(older, newer any) []string { return lost("", older, newer) }

func lost(at string, older, newer any) []string {
	before, isObject := older.(map[string]any)
	if !isObject {
		if a, b := fmt.Sprint(older), fmt.Sprint(newer); a != b {
			return []string{fmt.Sprintf("%s was %s and is %s", at, a, b)}
		}
		return nil
	}
	now, isObject := newer.(map[string]any)
	if !isObject {
		return []string{at + " is gone"}
	}
	var all []string
	for name, value := range before {
		there, has := now[name]
		switch list, isList := value.([]any); {
		case !has:
			all = append(all, fmt.Sprintf("%s/%s is gone", at, name))
		case isList:
			all = append(all, lostOf(at+"/"+name, list, there)...)
		default:
			all = append(all, lost(at+"/"+name, value, there)...)
		}
	}
	return all
}

// lostOf are the members of a list that are in no place of another any more; lists only grow at their end or between.
func lostOf(at string, before []any, newer any) []string {
	now, isList := newer.([]any)
	if !isList {
		return []string{at + " is no list any more"}
	}
	var all []string
	for i, value := range before {
		if !hasMember(now, value) {
			all = append(all, fmt.Sprintf("%s/%d is gone: %v", at, i, value))
		}
	}
	return all
}

func hasMember(list []any, value any) bool {
	for _, member := range list {
		if len(lost("", value, member)) == 0 {
			return true
		}
	}
	return false
}
