package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

func newStateList(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var where string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List every transfer that the state has, or those of which an expression is true",
		Long: "List every transfer that the state has, or with --where those of which an expression of the\n" +
			"language is true.",
		Args: func(_ *cobra.Command, args []string) error { return namesNone(&from, args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := open(p, &from)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("where") {
				return listWhere(cmd.Context(), w.streams, w.state, where)
			}
			return listState(cmd.Context(), w.streams, w.state, nil)
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().StringVar(&where, "where", "", "list those of which this `expression` is true, such as 'status == \"in_doubt\"'")
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

// namesNone refuses an address or a ref_id, and says which expression finds it.
func namesNone(from *workspace.Directory, args []string) error {
	if len(args) == 0 {
		return nil
	}
	where := fmt.Sprintf("startswith(ref_id, %q)", args[0])
	if strings.ContainsAny(args[0], "0123456789") { // a whole ref_id, as most have digits
		where = fmt.Sprintf("ref_id == %q", args[0])
	}
	if strings.ContainsAny(args[0], " <>=!") { // an expression already
		where = args[0]
	}
	if isAddress(args[0]) {
		where = fmt.Sprintf("startswith(address, %q)", args[0])
	}
	return exit.WithHint(errors.New("state list takes no arguments: --where filters what it lists"), from.Command("state list --where="+shell.Word(where)))
}

// isAddress reports whether somebody means a transfer or a block by its address.
func isAddress(word string) bool {
	return strings.HasPrefix(word, "transfer.") && strings.Count(word, ".") > 1
}

// listWhere lists what an expression keeps.
func listWhere(ctx context.Context, streams *terminal.Streams, st *workspace.State, expression string) error {
	if expression == "" {
		return errors.New("--where is empty, which says nothing about what to list. Is a variable of the shell not set?")
	}
	filter, diags := config.NewFilter(expression, transferAttributes(), ctx.Done())
	if err := reportFilter(streams, expression, diags); err != nil {
		return err
	}
	err := listState(ctx, streams, st, filter)
	if failed, ok := errors.AsType[*filterError](err); ok {
		return reportFilter(streams, expression, failed.diags)
	}
	return err
}

// reportFilter shows the mistakes in an expression of the command line.
func reportFilter(streams *terminal.Streams, expression string, diags hcl.Diagnostics) error {
	return streams.ReportIn(map[string]*hcl.File{config.FilterFile: {Bytes: []byte(expression)}}, diags)
}

// listState lists what filter keeps; a nil one keeps all.
func listState(ctx context.Context, streams *terminal.Streams, st *workspace.State, filter *config.Filter) error {
	snapshot, done, err := st.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	rows := snapshot.Transfers(ctx)
	if filter != nil {
		rows = keptRows(ctx, snapshot, filter)
	}
	names, err := namesBySeq(ctx, snapshot)
	if err != nil {
		return st.Error(err)
	}
	o := view.StateListOptions{
		Screen: streams.Screen(streams.Out), Filtered: filter != nil, Beside: st.HasSandboxBeside(), Names: names,
		Accepted: make(map[string][]transfer.Difference),
	}
	rows = state.WithAccepted(ctx, snapshot, rows, o.Accepted)
	if streams.WantsLines() {
		if err := streams.JSON().StateList(rows, o); streams.AsJSON || err != nil {
			return err
		}
	}
	return view.StateList(streams.Out, rows, o)
}

// filterError is that an expression has no answer about a transfer.
type filterError struct{ diags hcl.Diagnostics }

func (e *filterError) Error() string { return e.diags.Error() }

// keptRows yields the rows that filter keeps, in their order. Requests are read a page at a
// time, where the expression names something of them.
func keptRows(ctx context.Context, snapshot state.Snapshot, filter *config.Filter) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		keep := func(d *state.Detail) bool {
			values := requestValues{detail: d}
			kept, diags := filter.Keeps(values.of)
			if diags.HasErrors() {
				for _, diag := range diags {
					diag.Detail += fmt.Sprintf(" The transfer is %q.", view.Visible(d.RefID))
				}
				yield(state.Transfer{}, &filterError{diags})
				return false
			}
			return !kept || yield(d.Transfer, nil)
		}
		if !filter.Names(requestAttributes()...) {
			for t, err := range snapshot.Transfers(ctx) {
				if err != nil {
					yield(t, err)
					return
				}
				if !keep(&state.Detail{Transfer: t}) {
					return
				}
			}
			return
		}
		for d, err := range state.AllDetails(ctx, snapshot) {
			if err != nil {
				yield(state.Transfer{}, err)
				return
			}
			if !keep(d) {
				return
			}
		}
	}
}

// requestAttributes are those of the request and its declaration, not of the row, in order of name.
func requestAttributes() []string {
	names := slices.DeleteFunc(transfer.FieldNames(), func(name string) bool {
		return name == "amount" || name == "asset" || name == "ref_id"
	})
	names = append(names, "address", "batch", "place", "reverses")
	slices.Sort(names)
	return names
}

// transferAttributes are what an expression may name of a transfer in the state: the names of
// the lines of --json.
func transferAttributes() []config.Attribute {
	var statuses []string
	for _, s := range state.Statuses() {
		word, _ := s.MarshalText() // it has a word
		statuses = append(statuses, string(word))
	}
	attributes := []config.Attribute{
		{Name: "ref_id"},
		{Name: "status", Values: statuses},
		{Name: "amount", Decimal: true},
		{Name: "asset"},
		{Name: "record_status", Values: []string{string(transfer.Pending), string(transfer.Completed), string(transfer.Failed), ""}, Open: true},
		{Name: "group_id"},
		{Name: "record_id"},
		{Name: "fingerprint"},
		{Name: "doubted", Bool: true},
		{Name: "run_id"},
		{Name: "intended_at", Time: true},
		{Name: "attempted_at", Time: true},
		{Name: "settled_at", Time: true},
	}
	for _, name := range requestAttributes() {
		a := config.Attribute{Name: name}
		if name == "operation" {
			a.Values = append(transfer.OperationWords(), "")
		}
		attributes = append(attributes, a)
	}
	return attributes
}

// requestValues are the attributes of one transfer as values.
type requestValues struct {
	detail  *state.Detail
	request *transfer.Request // nil until it is asked for
}

// of is one attribute. A field that a transfer does not have is an empty text; a time, null.
func (v *requestValues) of(attribute string) cty.Value {
	t := &v.detail.Transfer
	switch attribute {
	case "ref_id":
		return cty.StringVal(t.RefID)
	case "status":
		word, _ := t.Status.MarshalText() // it has a word
		return cty.StringVal(string(word))
	case "amount":
		return cty.StringVal(t.Amount.String())
	case "asset":
		return cty.StringVal(t.Asset)
	case "record_status":
		return cty.StringVal(string(t.RecordStatus))
	case "group_id":
		return cty.StringVal(t.GroupID)
	case "record_id":
		return cty.StringVal(t.RecordID)
	case "fingerprint":
		if t.Fingerprint == (transfer.Fingerprint{}) {
			return cty.StringVal("")
		}
		return cty.StringVal(t.Fingerprint.String())
	case "doubted":
		return cty.BoolVal(t.Doubted)
	case "run_id":
		return cty.StringVal(t.RunID)
	case "intended_at":
		return exactTime(t.IntendedAt)
	case "attempted_at":
		return exactTime(t.AttemptedAt)
	case "settled_at":
		return exactTime(t.SettledAt)
	}
	return v.ofRequest(attribute)
}

func (v *requestValues) ofRequest(attribute string) cty.Value {
	intent := &v.detail.Intent
	if v.request == nil {
		v.request = &transfer.Request{}
		if r, err := transfer.ParseRequest(intent.Operation, []byte(intent.Body), ""); err == nil {
			v.request = &r // one that was imported without a request has none
		}
	}
	text := ""
	switch attribute {
	case "address":
		text = intent.Address
	case "batch":
		text = intent.Batch
	case "operation":
		text = string(intent.Operation)
	case "place":
		text = intent.Place
	case "reverses":
		text = intent.Reverses
	default:
		f, ok := transfer.FieldNamed(attribute)
		switch {
		case !ok:
			panic("an attribute of a transfer without a value: " + attribute)
		case f.HasPairs():
			return pairsValue(v.request.Pairs(f))
		}
		text = v.request.Text(f)
	}
	return cty.StringVal(text)
}

func pairsValue(pairs []transfer.Pair) cty.Value {
	if len(pairs) == 0 {
		return cty.MapValEmpty(cty.String)
	}
	values := make(map[string]cty.Value, len(pairs))
	for _, pair := range pairs {
		values[pair.Key] = cty.StringVal(pair.Value)
	}
	return cty.MapVal(values)
}

func exactTime(t time.Time) cty.Value {
	if t.IsZero() {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(t.UTC().Format(time.RFC3339Nano))
}
