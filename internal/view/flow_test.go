package view_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// flowFaces are the three languages of a flow, by the endings of their goldens.
func flowFaces(t *testing.T, f *view.Flow) map[string][]byte {
	t.Helper()
	faces := make(map[string][]byte)
	for ending, write := range map[string]func(io.Writer) error{"dot": f.DOT, "mmd": f.Mermaid, "svg": f.SVG} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		faces[ending] = b.Bytes()
	}
	return faces
}

func goldenFlow(t *testing.T, name string, f *view.Flow) {
	t.Helper()
	for ending, face := range flowFaces(t, f) {
		golden(t, "flow/"+name+"."+ending, face)
		checkFlowFace(t, ending, string(face))
	}
}

// payments is a plan of payments between profiles.
type payments struct{ fixture }

func (p *payments) pay(from, to, amount, asset string) *planner.Change {
	refID := fmt.Sprintf("p-%d", len(p.Changes))
	p.Changes = append(p.Changes, planner.Change{
		Action: planner.Submit, RefID: refID, Address: "transfer.internal." + refID,
		Request: transfer.Request{
			Operation: transfer.Internal, RefID: refID, FromProfileID: from, ToProfileID: to,
			Amount: transfer.MustAmount(amount), Asset: asset,
		},
	})
	return &p.Changes[len(p.Changes)-1]
}

var flowNames = map[string]string{
	"0acfa5a6-6f2e-41af-a833-48e301197ffd": "treasury",
	"37867177-f88c-45cc-b9b5-d786e7079609": "landlord",
	"8e81973e-0bec-47b0-b898-d190f9ebdacc": "seller",
}

const (
	treasury = "0acfa5a6-6f2e-41af-a833-48e301197ffd"
	landlord = "37867177-f88c-45cc-b9b5-d786e7079609"
	seller   = "8e81973e-0bec-47b0-b898-d190f9ebdacc"
	stranger = "5d1e44f4-3b07-4a8e-9d1c-07d4c1f0a001"
)

func TestFlow(t *testing.T) {
	for _, name := range []string{"payroll", "marketplace", "mixed", "nothing", "sandbox"} {
		goldenFlow(t, name, view.NewFlow(readPlan(t, name), flowNames))
	}
}

func TestFlowAddsUpExactly(t *testing.T) {
	var p payments
	for range 10 {
		p.pay(treasury, landlord, "0.1", "USD")
	}
	p.pay(treasury, landlord, "12345678901234567890.000000000000000001", "USD")
	p.pay(treasury, landlord, "0.5", "BTC")
	waits := p.pay(treasury, landlord, "7", "USD")
	waits.Action = planner.Wait
	f := view.NewFlow(p.plan(), flowNames)
	if f.Edges() != 2 {
		t.Errorf("%d edges", f.Edges())
	}
	for ending, face := range flowFaces(t, f) {
		for _, want := range []string{"11 transfers, USD 12,345,678,901,234,567,891.000000000000000001", "1 transfer, BTC 0.5"} {
			if !strings.Contains(string(face), want) {
				t.Errorf("%s lacks %q", ending, want)
			}
		}
	}
}

// A doubt moves its recorded amount, and not the declared one.
func TestFlowOfADoubt(t *testing.T) {
	var p payments
	c := p.pay(treasury, seller, "99.00", "USD")
	recorded := c.Request
	recorded.Amount, recorded.ToProfileID = transfer.MustAmount("12.00"), landlord
	c.Action = planner.Resolve
	c.Recorded = &planner.Recorded{
		Status: state.InDoubt, Operation: transfer.Internal, Body: string(recorded.Body()), Fingerprint: recorded.Fingerprint().String(),
	}
	goldenFlow(t, "doubt", view.NewFlow(p.plan(), flowNames))
}

// A circle of payments, and one to oneself from another account.
func TestFlowInCircles(t *testing.T) {
	var p payments
	p.pay(treasury, landlord, "1.00", "USD")
	p.pay(landlord, seller, "2.00", "USD")
	p.pay(seller, treasury, "3.00", "USD")
	own := p.pay(seller, seller, "4.00", "USD")
	own.Request.FromAccountID, own.Request.ToAccountID = "a-1", "a-2"
	self := p.pay(stranger, stranger, "5.00", "USD")
	self.Request.FromAccountID, self.Request.ToAccountID = "b-1", "b-1"
	goldenFlow(t, "circles", view.NewFlow(p.plan(), flowNames))
}

// Dependencies are between batches; within a batch, between its blocks.
func TestFlowInOrder(t *testing.T) {
	var p payments
	put := func(block, batch string, after ...string) {
		c := p.pay(treasury, stranger, "10.00", "USD")
		c.Address, c.Batch, c.After = fmt.Sprintf("transfer.internal.%s[%q]", block, c.RefID), batch, after
	}
	put("sweep", "")
	put("salaries", "payroll", "p-0", "sent-before")
	put("salaries", "payroll", "p-0")
	put("bonuses", "payroll", "p-0")
	put("rent", "november", "p-1", "p-3")
	put("deposit", "november", "p-4")
	goldenFlow(t, "order", view.NewFlow(p.plan(), flowNames))
}

// Thousands of destinations become a picture of the largest and a sum of the rest.
func TestFlowOfManyIsBounded(t *testing.T) {
	var p payments
	for i := range 2000 {
		p.pay(treasury, fmt.Sprintf("profile-%04d", i), fmt.Sprintf("%d.01", 1+(i*7919)%2000), "USD")
	}
	for i := range 3 {
		p.pay(landlord, fmt.Sprintf("profile-%04d", i), "0.5", "BTC")
	}
	for i := range 100 {
		p.pay(fmt.Sprintf("profile-%04d", i), treasury, "1", "EUR")
	}
	f := view.NewFlow(p.plan(), flowNames)
	if f.Edges() != 2103 {
		t.Errorf("%d edges", f.Edges())
	}
	goldenFlow(t, "many", f)
	for ending, most := range map[string]int{"mmd": 30, "svg": 40, "dot": 500} {
		face := string(flowFaces(t, f)[ending])
		if arrows := strings.Count(face, map[string]string{"mmd": "-->", "svg": "flow-head", "dot": " -> "}[ending]); arrows != most {
			t.Errorf("%s has %d arrows, not %d", ending, arrows, most)
		}
	}
}

// So many assets that not each can have an arrow: they are counted.
func TestFlowOfManyAssets(t *testing.T) {
	var p payments
	for i := range 1200 {
		p.pay(treasury, landlord, "1.00", fmt.Sprintf("A%04d", i))
	}
	for ending, want := range map[string]string{
		"mmd": "1185 transfers of 1185 further assets", "svg": "1180 transfers of 1180 further assets", "dot": "950 transfers of 950 further assets",
	} {
		if face := string(flowFaces(t, view.NewFlow(p.plan(), nil))[ending]); !strings.Contains(face, want) {
			t.Errorf("%s lacks %q", ending, want)
		}
	}
}

const mermaidLabel = `"(?:[\p{L}\p{M}\p{N} ,.-]|#[0-9]+;|<br/>)*"`

// The form of a line of each language, whatever the texts of the plan are.
var (
	dotLine = regexp.MustCompile(`^(digraph flow \{| +(rankdir=LR|labelloc=t|style=dashed);| +label="(?:[^"\\]|\\.)*";` +
		`| +(node \[shape=box, |edge \[)fontname="sans-serif"\];| +subgraph cluster_order \{` +
		`| +[pg]\d+( -> [pg]\d+)? \[label="(?:[^"\\]|\\.)*"(, style=dashed)?\];| *\})$`)
	mermaidLine = regexp.MustCompile(`^(flowchart LR|  accTitle: Flow of funds|  subgraph (money|order) \[` + mermaidLabel + `\]|    direction LR|  end` +
		`| +(title|[pg]\d+)\[` + mermaidLabel + `\]| +[pg]\d+ (-->|-\.->)\|` + mermaidLabel + `\| [pg]\d+)$`)
)

// checkFlowFace fails where a text of the plan got out of its place in a language.
func checkFlowFace(t *testing.T, ending, face string) {
	t.Helper()
	checkShown(t, face)
	if ending == "svg" {
		checkSVG(t, face)
		return
	}
	want := map[string]*regexp.Regexp{"dot": dotLine, "mmd": mermaidLine}[ending]
	for line := range strings.Lines(face) {
		if line = strings.TrimSuffix(line, "\n"); !want.MatchString(line) {
			t.Errorf("%s has the line %q", ending, line)
		}
	}
}

func checkSVG(t *testing.T, face string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(face))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		element, isElement := token.(xml.StartElement)
		if !isElement {
			continue
		}
		switch element.Name.Local {
		case "svg", "title", "desc", "rect", "path", "text":
		default:
			t.Errorf("there is a <%s>", element.Name.Local)
		}
		for _, a := range element.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Name.Local, "href") || a.Name.Local == "style" {
				t.Errorf("there is an attribute %s=%q", a.Name.Local, a.Value)
			}
		}
	}
}

const flowHostile = "\x1b[2K\u202e evil\u200b\nPlan: 0 to submit.\r\u009b31m e\u0301\u0301\u0301\u0301\u0301\u0301 \xff \"]; click p0 \"javascript:1\" --> %%{init: {}}%% #quot; #35; `**x**` </text></svg><script>alert(1)</script> &quot; \\\" \\l \\N <br/> |x| end"

// hostileFlow is the flow of a plan in which every text is the same.
func hostileFlow(text string) *view.Flow {
	plan := hostilePlan(text)
	plan.Changes.Update(0, func(c *planner.Change) { c.After = []string{"sent before"} })
	return view.NewFlow(plan, map[string]string{text: text})
}

func TestFlowOfHostileText(t *testing.T) {
	goldenFlow(t, "hostile", hostileFlow(flowHostile))
}

func FuzzFlow(f *testing.F) {
	f.Add(flowHostile)
	f.Add(strings.Repeat("N", 64<<10))
	f.Add("\ufffe]]>--\u0301")
	f.Fuzz(func(t *testing.T, text string) {
		for ending, face := range flowFaces(t, hostileFlow(text)) {
			checkFlowFace(t, ending, string(face))
		}
	})
}
