package view

import "remit/executor"

// LineTypes are the types of JSON Lines by what they say of themselves, for their schemas.
func LineTypes() map[string]any {
	lines := map[string]any{
		"account":           accountLine{},
		"against":           againstLine{},
		"approval":          approvalLine{},
		"backup":            Backup{},
		"balance":           balanceLine{},
		"booking":           bookingLine{},
		"certify_row":       certifyRowLine{},
		"certify_summary":   certifySummaryLine{},
		"change":            changeLine{},
		"diagnostic":        diagnosticLine{},
		"difference":        differenceLine{},
		"ended":             endedLine{},
		"entry":             entryLine{},
		"error":             errorLine{},
		"event":             eventLine{},
		"evidence":          Exported{},
		"exported":          booksLine{},
		"failure":           failureLine{},
		"generated":         generatedLine{},
		"header":            headerLine{},
		"import_difference": importDifferenceLine{},
		"import_left_out":   importLeftOutLine{},
		"import_line":       importLine{},
		"import_plan":       importPlanLine{},
		"note":              noteLine{},
		"obstacle":          obstacleLine{},
		"occurrence":        occurrenceLine{},
		"outcome":           outcomeLine{},
		"reconciled":        reconciledLine{},
		"reconciliation":    reconciliationLine{},
		"refresh":           refreshLine{},
		"rehearsal":         rehearsalLine{},
		"report":            reportLine{},
		"report_asset":      reportAssetLine{},
		"report_exception":  reportExceptionLine{},
		"report_run":        reportRunLine{},
		"run":               pastLine{},
		"run_summary":       runSummaryLine{},
		"standing":          groupedLine{},
		"state":             stateLine{},
		"state_exported":    exportedLine{},
		"status":            statusLine{},
		"summary":           planSummaryLine{},
		"test_file":         testFileLine{},
		"test_run":          testRunLine{},
		"test_summary":      testSummaryLine{},
		"transfer":          transferLine{},
		"tree":              treeLine{},
		"tree_sum":          treeSumLine{},
		"unbooked":          bookingLine{},
		"validated":         validatedLine{},
		"verified":          Verified{},
		"verified_evidence": VerifiedPack{},
		"version":           versionLine{},
		"why":               whyLine{},
	}
	for _, kind := range []executor.EventType{
		executor.EventBegun, executor.EventIntended, executor.EventWaiting, executor.EventSettled,
		executor.EventChanged, executor.EventNotice, executor.EventStopping,
	} {
		lines[string(kind)] = executor.Event{}
	}
	return lines
}
