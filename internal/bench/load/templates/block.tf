
resource "terraform_data" "payout-{{.ID}}" {
  input = {
    ref_id          = "payout-{{.ID}}"
    from_profile_id = "{{.Treasury}}"
    to_profile_id   = "{{.ProfileID}}"
    amount          = "{{.Amount}}"
    asset           = "USD"
    metadata = {
      id   = "{{.ID}}"
      team = "{{.Team}}"
    }
  }
}
