variable "file" {
  type    = string
  default = "rows.csv"
}

data "csv" "payouts" {
  file = var.file
  key  = "id"
}

transfer "internal" "payouts" {
  for_each      = data.csv.payouts.rows
  batch         = batch.payouts
  ref_id        = "payout-${each.key}"
  from          = profile.treasury
  to_profile_id = each.value.profile_id
  amount        = each.value.amount
  asset         = "USD"
  metadata = {
    id   = each.key
    team = each.value.team
  }
}
