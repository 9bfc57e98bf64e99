package mistake

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// OfFile says why the file of this name could not be read, and what to do where the system denies it.
func OfFile(name string, err error) string {
	if errors.Is(err, fs.ErrPermission) && !strings.ContainsAny(name, " '\"$`\\") {
		return fmt.Sprintf("The system does not let you read %s. Ask its owner: ls -l %s shows who that is.", name, name)
	}
	return fmt.Sprintf("%s: %s", name, Sentence(err))
}
