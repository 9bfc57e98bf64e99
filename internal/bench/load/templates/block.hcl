
transfer "internal" "payout-{{.ID}}" {
  batch         = batch.payouts
  from          = profile.treasury
  to_profile_id = "{{.ProfileID}}"
  amount        = "{{.Amount}}"
  asset         = "USD"
  metadata = {
    id   = "{{.ID}}"
    team = "{{.Team}}"
  }
}
