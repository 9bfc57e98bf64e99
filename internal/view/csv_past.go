package view

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"remit/executor"
)

// PastCSV writes a run of the journal as a register: a line of column names, then one for each
// transfer, in the order of the journal. It is written as [PlanCSV] writes: a spreadsheet may
// open it. It lacks the transfers that the run did not attempt. It returns only errors of w.
func PastCSV(w io.Writer, past *executor.PastRun, _ PastOptions) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	err := out.Write(slices.Concat([]string{"result", "ref_id", "group_id", "record_id", "service_status", "batch"},
		requestColumns(false), []string{"at", "reason", "place"}))
	for i := range past.Lines {
		if err == nil {
			err = out.Write(pastCells(&past.Lines[i]))
		}
	}
	if err != nil {
		return fmt.Errorf("write the register: %w", err)
	}
	out.Flush()
	return out.Error()
}

func pastCells(l *executor.PastLine) []string {
	cells := slices.Concat([]string{string(l.Result), l.RefID, l.GroupID, l.RecordID, string(l.RecordStatus), l.Batch},
		requestCells(&l.Request, false), []string{momentOrNone(l.At), l.Reason, l.Place})
	for i := range cells {
		cells[i] = cellText(cells[i])
	}
	return cells
}
