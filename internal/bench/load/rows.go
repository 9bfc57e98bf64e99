// Package load makes what the bench's processes work on, and is the work of those that are
// not remit: the floors, the service, the script that a user would write.
//
// Its one invariant: the same size means the same rows for every reader, so that all compared
// programs did the same work.
package load

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"

	"remit/internal/transfer"
)

// The fields that all transfers share.
const (
	treasury = "0acfa5a6-6f2e-41af-a833-48e301197ffd"
	asset    = "USD"
	batch    = "payouts"
	header   = "id,name,team,profile_id,amount\n"
)

// Row is a line of the file of payouts. It is a function of its number alone.
type Row struct {
	ID        string // of the payout; in byte order as its number
	Name      string // has a comma, so that it is quoted
	Team      string
	ProfileID string
	Amount    string
}

// NewRow makes a row. Rows of different numbers pay different profiles.
func NewRow(number int) Row {
	a, b := scramble(2*uint64(number)), scramble(2*uint64(number)+1)
	return Row{
		ID:   fmt.Sprintf("P-%08d", number),
		Name: fmt.Sprintf("Seller %d, Ltd.", number),
		Team: "team-" + strconv.FormatUint(a%40, 10),
		ProfileID: fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x",
			uint32(a), uint16(a>>32), uint16(a>>52), uint16(b>>52), b&(1<<48-1)),
		Amount: fmt.Sprintf("%d.%02d", 1+b>>48%5000, a>>48%100),
	}
}

// monthRow is the row with a number in the file of a month, counted from 0.
func monthRow(month, number int) Row {
	row := NewRow(number)
	row.ID = fmt.Sprintf("M%02d-%s", month, row.ID)
	return row
}

// scramble spreads numbers over 64 bits, one to one (the finalizer of MurmurHash3).
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// Request is the transfer that the configurations of this package declare for r.
func (r Row) Request() (transfer.Request, error) {
	amount, err := transfer.ParseAmount(r.Amount)
	if err != nil {
		return transfer.Request{}, err
	}
	return transfer.Request{
		Operation: transfer.Internal, RefID: r.refID(), FromProfileID: treasury, ToProfileID: r.ProfileID,
		Amount: amount, Asset: asset, Metadata: transfer.Metadata{{Key: "id", Value: r.ID}, {Key: "team", Value: r.Team}},
	}, nil
}

func (r Row) refID() string { return "payout-" + r.ID }

// Order says which rows a file has, and in which order.
type Order int

// The orders of rows.
const (
	Sorted   Order = iota // by id
	Shuffled              // in no order
	// Grown are all rows, and a tenth as many new ones of which every hundredth pays a
	// profile what an old one paid it.
	Grown
	// NextMonth is the month after those that SeedMonths made.
	NextMonth
)

// LookAlikes is how many look-alikes a grown file of a size has.
func LookAlikes(size int) int { return (size/10 + 99) / 100 }

// WriteRows writes the file of payouts of a size.
func WriteRows(path string, size int, order Order) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	out := bufio.NewWriterSize(f, 1<<16)
	if _, err := out.WriteString(header); err != nil {
		return err
	}
	count := size
	if order == Grown {
		count += size / 10
	}
	if order == NextMonth {
		count /= Months
	}
	step := stride(size)
	for i := range count {
		row := NewRow(i)
		switch {
		case order == NextMonth:
			row = monthRow(Months, i)
		case order == Shuffled:
			row = NewRow(int(uint64(i) * step % uint64(size)))
		case i >= size && (i-size)%100 == 0:
			old := NewRow(i - size)
			row.ProfileID, row.Amount = old.ProfileID, old.Amount
		}
		if _, err := fmt.Fprintf(out, "%s,%q,%s,%s,%s\n", row.ID, row.Name, row.Team, row.ProfileID, row.Amount); err != nil {
			return err
		}
	}
	return out.Flush()
}

// stride is a number that, multiplied with 0 to size-1, meets each remainder once.
func stride(size int) uint64 {
	step := uint64(7_368_787) // a prime
	for gcd(step, uint64(size)) != 1 {
		step += 2
	}
	return step
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// readRows calls do with each row of a file of payouts. The row's texts are its own.
func readRows(path string, do func(Row) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	reader := csv.NewReader(bufio.NewReaderSize(f, 1<<16))
	reader.ReuseRecord = true // the slice, not the texts
	if _, err := reader.Read(); err != nil {
		return err
	}
	for {
		fields, err := reader.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(Row{fields[0], fields[1], fields[2], fields[3], fields[4]}); err != nil {
			return err
		}
	}
}
