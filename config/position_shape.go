package config

import (
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
)

// counted says whether something is made by counting a list.
type counted struct {
	is bool
	// counts says that it is an element of range, which is a position where a list is indexed by it, and byLength that the
	// range ends with the length of something.
	counts, byLength bool
}

func (c counted) with(other counted) counted {
	return counted{c.is || other.is, c.counts || other.counts, c.byLength || other.byLength}
}

// kinds are the kinds of value that an expression can have; none says that nothing is known of it.
type kinds uint8

const (
	kindList kinds = 1 << iota
	kindMap
	kindSet
	kindText    // or a number, true or false
	kindUnknown // besides the others
)

func (k kinds) isKnown() bool { return k != 0 && k&kindUnknown == 0 }

// or is what either of two values can be.
func (k kinds) or(other kinds) kinds {
	if k == 0 {
		k = kindUnknown
	}
	if other == 0 {
		other = kindUnknown
	}
	return k | other
}

// shape says which parts of a value are made by counting a list: of the zero value none is.
type shape struct {
	counted
	kind    kinds
	keys    counted          // those of a map
	parts   map[string]shape // its elements whose keys are written
	element *shape           // each other element; nil where nothing is said of them
}

func listOf(element shape) shape { return shape{kind: kindList, element: &element} }

// join is what either of the shapes says.
func join(shapes ...shape) shape {
	if len(shapes) == 0 {
		return shape{}
	}
	all := shapes[0]
	for _, s := range shapes[1:] {
		all = all.or(s)
	}
	return all
}

func (s shape) or(other shape) shape {
	made := shape{counted: s.with(other.counted), kind: s.kind.or(other.kind), keys: s.keys.with(other.keys), element: s.element}
	if made.element == nil {
		made.element = other.element
	} else if other.element != nil {
		either := s.element.or(*other.element)
		made.element = &either
	}
	if len(s.parts)+len(other.parts) > 0 {
		made.parts = make(map[string]shape, len(s.parts)+len(other.parts))
	}
	for name, part := range s.parts {
		made.parts[name] = part
	}
	for name, part := range other.parts {
		if before, ok := made.parts[name]; ok {
			part = before.or(part)
		}
		made.parts[name] = part
	}
	return made
}

// each is the shape of any of its elements.
func (s shape) each() shape {
	var all []shape
	for _, part := range s.parts {
		all = append(all, part)
	}
	if s.element != nil {
		all = append(all, *s.element)
	}
	made := join(all...)
	made.is = made.is || s.is
	return made
}

// at is an element of it: that of a key, or any one where the key is not known.
func (s shape) at(key string, isKnown bool) shape {
	part, isPart := s.parts[key]
	switch {
	case !isKnown:
		return s.each()
	case isPart && s.element != nil:
		part = part.or(*s.element)
	case !isPart && s.element != nil:
		part = *s.element
	}
	part.is = part.is || s.is
	return part
}

// behind is what steps lead to.
func (s shape) behind(steps hcl.Traversal) shape {
	for _, step := range steps {
		key, ok := eval.StepName(step, true)
		if index, isIndex := step.(hcl.TraverseIndex); isIndex && !ok {
			key, ok = keyOf(index.Key)
		}
		s = s.at(key, ok)
	}
	return s
}

// anywhere is the counting of all of its parts.
func (s shape) anywhere() counted {
	all := s.with(s.keys)
	for _, part := range s.parts {
		all = all.with(part.anywhere())
	}
	if s.element != nil {
		all = all.with(s.element.anywhere())
	}
	return all
}

// asPositions is the shape where each part that counts is a position.
func (s shape) asPositions() shape {
	s.is = s.is || s.counts
	s.keys.is = s.keys.is || s.keys.counts
	if s.element != nil {
		element := s.element.asPositions()
		s.element = &element
	}
	parts := s.parts
	s.parts = make(map[string]shape, len(parts))
	for name, part := range parts {
		s.parts[name] = part.asPositions()
	}
	return s
}

// text is the shape of a text that is made of others.
func text(of ...shape) shape {
	made := shape{kind: kindText}
	for _, s := range of {
		made.counted = made.with(s.anywhere())
	}
	return made
}

// flattened is an element of a list that flatten makes of lists of such elements.
func (s shape) flattened() shape {
	switch {
	case s.kind.isKnown() && s.kind&(kindList|kindSet) == 0:
		return s
	case s.element == nil && len(s.parts) == 0:
		return shape{counted: s.counted}
	case s.kind.isKnown() && s.kind&(kindMap|kindText) == 0:
		return s.each().flattened()
	}
	return s.or(s.each().flattened())
}

// attributesNamed is how many attributes of an object are told apart.
const attributesNamed = 64

// ofTypes is the shape of an element of a collection whose elements have these types.
func ofTypes(all iter.Seq[cty.Type]) shape {
	var before []cty.Type // most collections have elements of one type
	var shapes []shape
	for ty := range all {
		if !slices.ContainsFunc(before, ty.Equals) {
			before, shapes = append(before, ty), append(shapes, ofType(ty))
		}
	}
	return join(shapes...)
}

// ofType is the shape of a value of a type, of which no part is made by counting.
func ofType(ty cty.Type) shape {
	switch {
	case ty.IsPrimitiveType():
		return shape{kind: kindText}
	case ty.IsListType():
		return listOf(ofType(ty.ElementType()))
	case ty.IsSetType():
		element := ofType(ty.ElementType())
		return shape{kind: kindSet, element: &element}
	case ty.IsMapType():
		element := ofType(ty.ElementType())
		return shape{kind: kindMap, element: &element}
	case ty.IsTupleType():
		return listOf(ofTypes(slices.Values(ty.TupleElementTypes())))
	case ty.IsObjectType():
		made := shape{kind: kindMap}
		if attributes := ty.AttributeTypes(); len(attributes) > attributesNamed {
			made.element = new(ofTypes(maps.Values(attributes)))
		} else {
			made.parts = make(map[string]shape, len(attributes))
			for name, of := range attributes {
				made.parts[name] = ofType(of)
			}
		}
		return made
	}
	return shape{}
}

// known is the shape, with the kinds that it lacks and its value has.
func (s shape) known(of shape) shape {
	if !s.kind.isKnown() {
		s.kind = of.kind
	}
	if s.element == nil && len(s.parts) == 0 {
		s.element, s.parts = of.element, of.parts
		return s
	}
	if s.element != nil {
		element := s.element.known(of.each())
		s.element = &element
	}
	parts := s.parts
	s.parts = make(map[string]shape, len(parts))
	for name, part := range parts {
		s.parts[name] = part.known(of.at(name, true))
	}
	return s
}

// isIn reports whether an expression has a name.
func isIn(expr hclsyntax.Expression, name string) bool {
	if expr == nil || name == "" {
		return false
	}
	for _, path := range expr.Variables() {
		if path.RootName() == name {
			return true
		}
	}
	return false
}
