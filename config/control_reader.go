package config

import (
	"time"

	"remit/config/eval"
	"remit/internal/files/confined"

	"github.com/hashicorp/hcl/v2"
)

// controlReader reads the controls: limits, policies and approvals.
type controlReader struct {
	*checker
	root   *confined.Directory  // of the configuration
	files  map[string]*hcl.File // for what their authors wrote
	assets scales
	need   Need
	zone   *time.Location // of the times without one in a file of keys; nil for UTC
	found  *Controls
	// broken says that an approval lacks something that has no value here.
	broken    bool
	addresses []namedText // of transfers, for which policies look
}

// controlFileBytesMax bounds a file that a control names.
const controlFileBytesMax = 1 << 20

// readControlFile reads a file that the control b names: below the policy directory that has b,
// else below the configuration's. The file becomes one of the controls.
func (k *controlReader) readControlFile(b *eval.Block, name string) ([]byte, error) {
	root := k.root
	if b.Policy != nil {
		root = b.Policy.Root
	}
	content, err := root.Read(name, controlFileBytesMax)
	if err != nil {
		return nil, err
	}
	k.found.Files = append(k.found.Files, newControlFile(name, content))
	return content, nil
}
