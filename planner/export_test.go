package planner

// LineTypes are the types of the lines of a saved plan.
func LineTypes() map[string]any {
	return map[string]any{
		"header": Header{},
		"change": savedChange{},
		"kept":   savedKept{},
		"footer": struct {
			savedFooter
			Sum string `json:"sha256"`
		}{},
	}
}
