package config

import "remit/config/eval"

// Windows are the window blocks of a configuration whose hours are known, in declaration order.
func Windows(c *Configuration) []*Window {
	var all []*Window
	for _, name := range c.scope.Names("window") {
		if n := c.scope.Nodes["window"][name]; n.Progress == eval.Known {
			if w, why := windowOf(n.Value); why == "" {
				all = append(all, w)
			}
		}
	}
	return all
}
