transfer "internal" "payouts" {
  for_each      = { for row in csvdecode(file("rows.csv")) : row.id => row }
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
