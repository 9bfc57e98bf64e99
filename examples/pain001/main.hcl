# The bank file of the ERP, pain.001: its instructions are the transfers. Its own control totals
# (NbOfTxs, CtrlSum) are checked before anything is planned.

profile "treasury" {
  profile_id  = "5a85c2e9-2f0f-4b0f-9c3b-6d1b1f6a7c11"
  account_id  = "DE89370400440532013000"
  description = "Operating account, EUR"
}

data "pain001" "suppliers" {
  file  = "suppliers-2026-11-27.xml"
  where = row.currency == "EUR"
}

# Who is behind an IBAN. An IBAN that is not in this list stops the plan.
data "csv" "creditors" {
  file = "creditors.csv"
  key  = "iban"
}

batch "suppliers" {
  description = "Supplier run of 27 November 2026"
  not_before  = "2026-11-27T08:00:00+01:00"
}

transfer "internal" "supplier" {
  for_each      = data.pain001.suppliers.rows
  batch         = batch.suppliers
  ref_id        = each.key
  from          = profile.treasury
  to_profile_id = data.csv.creditors.rows[each.value.creditor_iban].profile_id
  to_account_id = each.value.creditor_iban
  amount        = each.value.amount
  asset         = each.value.currency
  metadata = {
    message    = each.value.message_id
    creditor   = each.value.creditor_name
    remittance = substr(coalesce(each.value.remittance, each.value.remittance_reference), 0, 100)
  }

  precondition {
    condition     = each.value.debtor_iban == profile.treasury.account_id
    error_message = "The instruction debits ${each.value.debtor_iban}, which is not the operating account."
  }
}
