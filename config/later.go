package config

// movedWhy says why there is no moved block, which users of Terraform look for.
const movedWhy = "A transfer is known by its ref_id, which must not hang on a block that someone tidies away. " +
	"A renamed transfer keeps its identity when its old ref_id is written out, as in\n\n  ref_id = \"rent-2026-11\""
