resource "terraform_data" "payout" {
  for_each = { for row in csvdecode(file("rows.csv")) : row.id => row }
  input = {
    ref_id          = "payout-${each.key}"
    from_profile_id = "{{.Treasury}}"
    to_profile_id   = each.value.profile_id
    amount          = each.value.amount
    asset           = "USD"
    metadata = {
      id   = each.key
      team = each.value.team
    }
  }
}
