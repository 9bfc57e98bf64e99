profile "treasury" { profile_id = "5a85c2e9-08fe-5c14-9b78-492f6f44c737" }
profile "payroll" { profile_id = "836d7080-6c9e-5a0d-8f3b-6a1f5d21b4d5" }
profile "landlord" { profile_id = "fd51a06f-2f0e-5ec4-93b6-0b7a4f2bc818" }
profile "hosting" { profile_id = "1f6c2d94-70b3-5d5e-8a11-3c9ae47f20b6" }

data "csv" "invoices" {
  file = "invoices.csv"
  key  = "invoice"
}

batch "november" { description = "Fixed payments of November 2026" }
batch "invoices" { description = "Approved invoices of November 2026" }

transfer "internal" "payroll-2026-11" {
  batch  = batch.november
  from   = profile.treasury
  to     = profile.payroll
  amount = "412850.22"
  asset  = "USD"
}

transfer "platform" "rent-2026-11" {
  batch  = batch.november
  from   = profile.treasury
  to     = profile.landlord
  amount = "8450.00"
  asset  = "USD"
}

transfer "platform" "hosting-2026-11" {
  batch  = batch.november
  from   = profile.treasury
  to     = profile.hosting
  amount = "1302.15"
  asset  = "USD"
}

transfer "platform" "cold-wallet" {
  from          = profile.treasury
  to_profile_id = "7c2d94a1-50b3-4d5e-9a11-3c9ae47f20b6"
  amount        = "0.0125"
  asset         = "BTC"
}

transfer "platform" "invoices" {
  for_each      = data.csv.invoices.rows
  batch         = batch.invoices
  ref_id        = each.key
  from          = profile.treasury
  to_profile_id = each.value.profile_id
  display_name  = each.value.name
  amount        = each.value.amount
  asset         = each.value.asset
  metadata      = { invoice = each.key, period = "2026-11" }
}
