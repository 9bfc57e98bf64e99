package rows

// painColumn is a column and the elements that it is read from, one or another of them: below
// the instruction (CdtTrfTxInf), below its PmtInf, or below the GrpHdr.
type painColumn struct {
	name  string
	paths []string
}

// painColumns are the columns of a pain.001 file. docs/language/pain001.md says what each is.
func painColumns() []painColumn {
	return []painColumn{
		{"end_to_end_id", []string{painInstruction + "PmtId/EndToEndId"}},
		{"instruction_id", []string{painInstruction + "PmtId/InstrId"}},
		{"uetr", []string{painInstruction + "PmtId/UETR"}},
		{"amount", []string{painAmount}},
		{"currency", nil}, // the attribute Ccy of the amount
		{"creditor_name", []string{painInstruction + "Cdtr/Nm"}},
		{"creditor_iban", []string{painInstruction + "CdtrAcct/Id/IBAN"}},
		{"creditor_account", []string{painInstruction + "CdtrAcct/Id/Othr/Id"}},
		{"creditor_bic", []string{painInstruction + "CdtrAgt/FinInstnId/BIC", painInstruction + "CdtrAgt/FinInstnId/BICFI"}},
		{"ultimate_creditor_name", []string{painInstruction + "UltmtCdtr/Nm"}},
		{"purpose", []string{painInstruction + "Purp/Cd", painInstruction + "Purp/Prtry"}},
		{"remittance", []string{painInstruction + "RmtInf/Ustrd"}},
		{"remittance_reference", []string{painInstruction + "RmtInf/Strd/CdtrRefInf/Ref"}},
		{"debtor_name", []string{painInformation + "Dbtr/Nm"}},
		{"debtor_iban", []string{painInformation + "DbtrAcct/Id/IBAN"}},
		{"debtor_account", []string{painInformation + "DbtrAcct/Id/Othr/Id"}},
		{"debtor_bic", []string{painInformation + "DbtrAgt/FinInstnId/BIC", painInformation + "DbtrAgt/FinInstnId/BICFI"}},
		{"requested_date", []string{painInformation + "ReqdExctnDt", painInformation + "ReqdExctnDt/Dt", painInformation + "ReqdExctnDt/DtTm"}},
		{"payment_information_id", []string{painInformation + "PmtInfId"}},
		{"message_id", []string{painGroup + "MsgId"}},
	}
}

// Pain001Columns are the names of the columns that a row of a pain.001 file has.
func Pain001Columns() []string {
	var names []string
	for _, column := range painColumns() {
		names = append(names, column.name)
	}
	return names
}
