package view

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/accounts/books"
	"remit/internal/text/lazyregexp"
)

// Pain002Start is how a file of pain.002 begins.
const Pain002Start = xml.Header + `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10">`

// BooksPain002 writes a customer payment status report of ISO 20022, pain.002.001.10: the
// status of each entry, booked or not, below the payment information that it belongs to. The
// entries have to come [books.ByPayment]. AddtlInf has the facts for which the schema has no room.
func BooksPain002(w io.Writer, s *books.Summary, entries iter.Seq2[*books.Entry, error], o BooksOptions) error {
	out := &painWriter{Writer: bufio.NewWriterSize(w, 64<<10), options: &o}
	_, _ = out.WriteString(Pain002Start + "\n")
	out.open("CstmrPmtStsRpt")
	out.head(s)
	groups := s.Groups
	isOpen := false
	for e, err := range entries {
		if err != nil {
			_ = out.Flush() // the error that matters is the other one
			return err
		}
		for len(groups) > 0 && (!isOpen || groups[0].ID != e.PaymentID()) {
			if isOpen {
				out.close("OrgnlPmtInfAndSts")
				groups = groups[1:]
			}
			out.open("OrgnlPmtInfAndSts")
			out.group(&groups[0])
			isOpen = true
		}
		out.entry(e)
	}
	if isOpen {
		out.close("OrgnlPmtInfAndSts")
	}
	out.close("CstmrPmtStsRpt")
	_, _ = out.WriteString("</Document>\n")
	return out.Flush()
}

// Of ISO 20022: how long texts may be, in characters, and numbers, in digits.
const (
	painIDMax         = 35
	painInfoMax       = 105
	painNameMax       = 140
	painDigitsMax     = 18
	painSumScaleMax   = 17
	painAmountScale   = 5
	painNotProvided   = "NOTPROVIDED"
	painOriginalName  = "pain.001"
	painCodeNarrative = "NARR" // the reason is in AddtlInf
)

var (
	painCurrency = lazyregexp.New(`^[A-Z]{3}$`)
	painUUID     = lazyregexp.New(`^[A-Fa-f0-9]{8}(-[A-Fa-f0-9]{4}){3}-[A-Fa-f0-9]{12}$`)
	painUETR     = lazyregexp.New(`^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$`)
)

// painWriter writes elements, each on a line of its own. Write errors stick in the buffer and
// come out of Flush.
type painWriter struct {
	*bufio.Writer
	options *BooksOptions
	depth   int
}

func (w *painWriter) indent() { _, _ = w.WriteString(strings.Repeat("  ", w.depth+1)) }

func (w *painWriter) open(name string) {
	w.indent()
	fmt.Fprintf(w, "<%s>\n", name)
	w.depth++
}

func (w *painWriter) close(name string) {
	w.depth--
	w.indent()
	fmt.Fprintf(w, "</%s>\n", name)
}

// element is the only way of text into the file. No text is no element.
func (w *painWriter) element(name, text string, attributes ...string) {
	if text == "" {
		return
	}
	w.indent()
	fmt.Fprintf(w, "<%s", name)
	for i := 0; i < len(attributes); i += 2 {
		fmt.Fprintf(w, " %s=%q", attributes[i], attributes[i+1])
	}
	_ = w.WriteByte('>')
	_ = xml.EscapeText(w, []byte(Visible(text)))
	fmt.Fprintf(w, "</%s>\n", name)
}

func (w *painWriter) head(s *books.Summary) {
	o := w.options
	w.open("GrpHdr")
	w.element("MsgId", o.messageID())
	w.element("CreDtTm", o.AsOf.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	w.close("GrpHdr")
	w.open("OrgnlGrpInfAndSts")
	message := ""
	if len(s.MessageIDs) == 1 {
		message = s.MessageIDs[0]
	}
	w.element("OrgnlMsgId", painID(message))
	w.element("OrgnlMsgNmId", painOriginalName)
	all := books.Group{Statuses: map[books.PaymentStatus]books.StatusSum{}}
	for _, g := range s.Groups {
		for status, sum := range g.Statuses {
			all.Statuses[status] = all.Statuses[status].Plus(sum)
		}
	}
	w.numbers(&all, "GrpSts")
	w.close("OrgnlGrpInfAndSts")
}

// messageID is the same for the same selection of the same state.
func (o *BooksOptions) messageID() string {
	selection := fmt.Appendf(nil, "%q %d %q", o.Meta.Lineage, o.Meta.Serial, o.Wanted)
	if o.Zone != time.UTC {
		selection = fmt.Appendf(selection, " %q", o.Zone) // the days of a period are others there
	}
	hash := sha256.Sum256(selection)
	return "R" + hex.EncodeToString(hash[:16])
}

func (w *painWriter) group(g *books.Group) {
	w.element("OrgnlPmtInfId", painID(g.ID))
	w.numbers(g, "PmtInfSts")
}

// numbers are the count and the sum of a group, its status, and those of each status in it.
func (w *painWriter) numbers(g *books.Group, statusName string) {
	all := g.All()
	w.element("OrgnlNbOfTxs", strconv.Itoa(all.Count))
	w.sum("OrgnlCtrlSum", all)
	w.element(statusName, groupStatus(g))
	for _, status := range books.PaymentStatuses() {
		sum, ok := g.Statuses[status]
		if !ok {
			continue
		}
		w.open("NbOfTxsPerSts")
		w.element("DtldNbOfTxs", strconv.Itoa(sum.Count))
		w.element("DtldSts", string(status))
		w.sum("DtldCtrlSum", sum)
		w.close("NbOfTxsPerSts")
	}
}

// sum writes the sum of transfers of one asset. ISO 20022 has sums irrespective of currencies, and needs
// none: one of euros and dollars would be read as money.
func (w *painWriter) sum(name string, s books.StatusSum) {
	if !s.IsMixed {
		w.element(name, painNumber(s.Sum, painSumScaleMax))
	}
}

// groupStatus is the status that all have, else PART; "" for none.
func groupStatus(g *books.Group) string {
	status := ""
	for _, s := range books.PaymentStatuses() {
		if _, ok := g.Statuses[s]; !ok {
			continue
		}
		if status != "" {
			return "PART"
		}
		status = string(s)
	}
	return status
}

func (w *painWriter) entry(e *books.Entry) {
	w.open("TxInfAndSts")
	w.element("StsId", optionalID(e.RecordID))
	w.element("OrgnlInstrId", optionalID(e.InstructionID()))
	w.element("OrgnlEndToEndId", endToEndID(e.RefID))
	if painUETR.MatchString(e.UETR()) {
		w.element("OrgnlUETR", e.UETR())
	}
	w.element("TxSts", string(e.PaymentStatus()))
	asked := e.Instructed()
	isAmount := painCurrency.MatchString(asked.Asset) && painNumber(asked.Amount, painAmountScale) != ""
	if notes := painNotes(e, isAmount); len(notes) > 0 {
		w.open("StsRsnInf")
		w.open("Rsn")
		w.element("Cd", painCodeNarrative)
		w.close("Rsn")
		for _, note := range notes {
			w.element("AddtlInf", note)
		}
		w.close("StsRsnInf")
	}
	w.element("AcctSvcrRef", optionalID(e.GroupID))
	w.open("OrgnlTxRef")
	if isAmount {
		w.open("Amt")
		w.element("InstdAmt", painNumber(asked.Amount, painAmountScale), "Ccy", asked.Asset)
		w.close("Amt")
	}
	w.party("Dbtr", asked.From)
	w.party("Cdtr", asked.To)
	w.close("OrgnlTxRef")
	w.close("TxInfAndSts")
}

func (w *painWriter) party(name, profile string) {
	text := w.options.name(profile)
	if text != profile && profile != "" {
		text += " " + profile
	}
	w.open(name)
	w.open("Pty")
	w.element("Nm", takeRunes(Visible(text), painNameMax))
	w.close("Pty")
	w.close(name)
}

// painNotes say, in lines that fit, why a transfer is not simply settled, in which fields its record is not as asked
// for, and what the schema has no room for.
func painNotes(e *books.Entry, isAmount bool) []string {
	var texts []string
	if e.Cause != "" {
		text := string(e.Cause)
		if e.Reason != "" {
			text += ": " + firstSentence(e.Reason)
		}
		texts = append(texts, text)
	}
	if endToEndID(e.RefID) != e.RefID {
		texts = append(texts, "ref_id "+e.RefID)
	}
	asked := e.Instructed()
	if !isAmount {
		texts = append(texts, "amount "+sum(asked.Amount)+" "+asked.Asset)
	}
	texts = append(texts, painRecorded(asked, e.Recorded(), e.Cause)...)
	if id := e.RecordID; id != "" && optionalID(id) == "" {
		texts = append(texts, "record_id "+id)
	}
	if id := e.GroupID; id != "" && optionalID(id) == "" {
		texts = append(texts, "group_id "+id)
	}
	var notes []string
	for _, text := range texts {
		for rest := strings.TrimSpace(Visible(text)); rest != ""; {
			part := takeRunes(rest, painInfoMax)
			notes, rest = append(notes, part), strings.TrimPrefix(rest, part)
		}
	}
	return notes
}

// painRecorded says in which fields a record is not as asked.
func painRecorded(asked, recorded books.Movement, cause books.Cause) []string {
	var texts []string
	isMoney := asked.Asset == recorded.Asset && asked.Amount.Equal(recorded.Amount)
	if !isMoney && cause != books.CauseUnreadable {
		texts = append(texts, "recorded amount "+sum(recorded.Amount)+" "+recorded.Asset)
	}
	if asked.From != recorded.From {
		texts = append(texts, "recorded debtor "+recorded.From)
	}
	if asked.To != recorded.To {
		texts = append(texts, "recorded creditor "+recorded.To)
	}
	return texts
}

// takeRunes is the beginning of a text, of so many characters at most.
func takeRunes(text string, most int) string {
	for i := range text {
		if most == 0 {
			return text[:i]
		}
		most--
	}
	return text
}

// fitsID reports whether the file can have a text as an ID, unchanged.
func fitsID(id string) bool {
	return id != "" && takeRunes(id, painIDMax) == id && Visible(id) == id && strings.TrimSpace(id) == id
}

// optionalID is an ID that fits, a UUID without its hyphens if need be; "" for another one.
func optionalID(id string) string {
	if painUUID.MatchString(id) {
		return strings.ReplaceAll(id, "-", "")
	}
	if fitsID(id) {
		return id
	}
	return ""
}

// painID is an ID that the file must have: of one that does not fit, its hash.
func painID(id string) string {
	if id == "" {
		return painNotProvided
	}
	return endToEndID(id)
}

// endToEndID is a ref_id, or its hash where it is longer than an EndToEndId may be.
func endToEndID(id string) string {
	if fitsID(id) && !painHashed.MatchString(id) {
		return id
	}
	hash := sha256.Sum256([]byte(id))
	return "R-" + hex.EncodeToString(hash[:16])
}

var painHashed = lazyregexp.New(`^R-[0-9a-f]{32}$`)

// painNumber is a number that the schema takes; "" for another one.
func painNumber(n decimal.Decimal, scaleMax int) string {
	text := n.String() // without zeros that say nothing
	whole, fraction, _ := strings.Cut(text, ".")
	if n.IsNegative() || len(fraction) > scaleMax || len(whole)+len(fraction) > painDigitsMax {
		return ""
	}
	return sumOrShorter(n, scaleMax)
}

// sumOrShorter keeps the decimals as they are written where the schema takes so many.
func sumOrShorter(n decimal.Decimal, scaleMax int) string {
	text := sum(n)
	if _, fraction, _ := strings.Cut(text, "."); len(fraction) > scaleMax || len(text) > painDigitsMax {
		return n.String()
	}
	return text
}
