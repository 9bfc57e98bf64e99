package config

// laterBlocks are the blocks that the language has and this version does not, and what to do
// without each. Arguments that a later version brings stand in their [blockKind].
func laterBlocks() map[string]string {
	return map[string]string{
		"policy": "Nothing would be checked by it: remove the block, or use a version that has it.",
	}
}

// movedWhy says why there is no moved block, which users of Terraform look for.
const movedWhy = "A transfer is known by its ref_id, which must not hang on a block that someone tidies away. " +
	"A renamed transfer keeps its identity when its old ref_id is written out, as in\n\n  ref_id = \"rent-2026-11\""
