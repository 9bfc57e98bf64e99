package config

import "remit/internal/transfer"

// LabelWords are what a label of a block may say, where that is one of a list; nil elsewhere.
func LabelWords(block string, label int) []string {
	switch {
	case label > 0:
		return nil
	case block == "data":
		return dataTypes()
	case block == "state":
		return []string{StateSQLite, StatePostgres}
	case block == "transfer":
		return transfer.OperationWords()
	}
	return nil
}

// ValueAttributes are what a value with a name has, by the root of its references, such as profile.
func ValueAttributes(root string) []string {
	if root == "data" {
		return []string{"rows"}
	}
	return attributes()[root]
}
