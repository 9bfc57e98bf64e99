package workspace

// Commands that show a directory and its disk to a person.
const (
	showRoom   = "fsutil volume diskfree"
	showAccess = "icacls"
	showOne    = "icacls"
	showMount  = "Get-Volume -FilePath"
)
