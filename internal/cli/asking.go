package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/internal/approval/ask"
	"remit/internal/cli/exit"
	"remit/internal/view"
)

// askWait is how long a page waits for its reader.
const askWait = time.Hour

// asking serves a page that asks the person at this machine.
type asking struct {
	noBrowser bool
	dir       string // of the configuration; "" without one
}

func (a *asking) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.noBrowser, "no-browser", false, "print the page's address, and don't open it in the browser")
}

// checkPort refuses a --port at which no page could be.
func checkPort(cmd *cobra.Command, port int) error {
	const portMax = 65535
	if cmd.Flags().Changed("port") && (port < ask.PortMin || port > portMax) {
		return fmt.Errorf("--port=%d is no port from %d to %d; nothing is served", port, ask.PortMin, portMax)
	}
	return nil
}

// serve serves a page until it was answered, and says what stays undone where it was not.
func (a *asking) serve(ctx context.Context, p *process, page *ask.Page, what, undone string) error {
	page.Wait, page.Files = askWait, map[string]ask.File{}
	for name, file := range view.ServedFiles() {
		page.Files[name] = ask.File{Type: file.Type, Content: []byte(file.Content)}
	}
	afterwards := func() {}
	page.Tell = func(address, once string) { afterwards = a.tell(ctx, p, page, what, address, once) }
	err := page.Serve(ctx)
	afterwards()
	switch {
	case errors.Is(err, ask.ErrTaken):
		return exit.Explain(err, fmt.Sprintf("%s; %s. If it is another remit, answer its page or end it; else serve this page at another --port", err, undone))
	case errors.Is(err, ask.ErrTime), errors.Is(err, ask.ErrTooMany):
		return fmt.Errorf("%w; %s", err, undone)
	}
	return err
}

// tell prints where the page is, and has the browser open it where a person sits at a desktop of this machine. Its caller calls
// afterwards once the page has ended.
func (a *asking) tell(ctx context.Context, p *process, page *ask.Page, what, address, once string) (afterwards func()) {
	here := strings.TrimPrefix(ask.Origin(page.Port), "http://")
	hint, afterwards := "Open it in a browser of this machine: no other machine reaches "+here+".", func() {}
	if opener := a.opener(p); opener != "" {
		if remove, err := p.host.Open(ctx, opener, view.LeadHTML(once)); err == nil {
			afterwards = remove
			hint = fmt.Sprintf("%s opens it in your browser. If the page does not appear, open the address yourself,\nin a browser of this machine: no other machine reaches %s.", filepath.Base(opener), here)
		}
	}
	_, _ = fmt.Fprintf(p.streams.Err, "%s\n\n    %s\n\n%s\n", what, address, hint)
	return afterwards
}

// opener is the program that opens the page; "" where remit opens none.
func (a *asking) opener(p *process) string {
	if a.noBrowser || !p.streams.Interactive() {
		return ""
	}
	return p.host.Opener(a.dir)
}
