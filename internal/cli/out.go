package cli

import (
	"fmt"
	"strings"
	"time"

	"remit/internal/cli/workspace"
)

// checkPlanOut refuses, before anything is planned, a file that --out must not replace: only an
// earlier plan or an empty file is lost without loss. The state's files are the record of payments,
// and the configuration's the plan for the next. An empty name is no file.
func checkPlanOut(dir *workspace.Directory, st *workspace.State, name string, expiresIn time.Duration) error {
	if name == "" {
		return nil
	}
	if expiresIn <= 0 {
		return fmt.Errorf("--expires-in=%s leaves no time to apply the plan; say a longer one, such as 72h", expiresIn)
	}
	path := dir.Within(name)
	for _, belonging := range st.Backend.Files() {
		if samePath(path, belonging) {
			return fmt.Errorf("save the plan: %s is a file of the state, which a plan never replaces; name another file with --out", name)
		}
	}
	if strings.HasSuffix(path, ".hcl") || strings.HasSuffix(path, ".hcl.json") {
		return fmt.Errorf("save the plan: %s would be read as configuration; name another file with --out, such as november.plan", name)
	}
	replaceable, err := isReplaceable(path, planStart())
	if err != nil {
		return fmt.Errorf("save the plan: %w", err)
	}
	if !replaceable {
		return fmt.Errorf("save the plan: %s is there already and is no plan, so it is not replaced; name another file with --out", name)
	}
	return nil
}
