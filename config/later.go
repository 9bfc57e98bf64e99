package config

// laterBlocks are the blocks that the language has and this version does not, and why.
// Arguments that a later version brings stand in their [blockKind].
func laterBlocks() map[string]string {
	const later = "This version of remit does not have it yet."
	return map[string]string{
		"limit":    later + " Nothing is capped by it: remove the block, or use a version that has it.",
		"policy":   later + " Nothing is checked by it: remove the block, or use a version that has it.",
		"approval": later + " Nobody is asked by it: remove the block, or use a version that has it.",
		"calendar": later,
		"schedule": later + " Write not_before with a time, and for_each over the periods.",
		"window":   later + " Write not_before and expires with times.",
		"moved": "There is no moved block: a transfer is known by its ref_id, which must not hang on a block that " +
			"someone tidies away. A renamed transfer keeps its identity when its old ref_id is written out, as in\n\n" +
			"  ref_id = \"rent-2026-11\"",
	}
}
