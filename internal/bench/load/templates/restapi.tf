terraform {
  required_providers {
    restapi = {
      source = "Mastercard/restapi"
    }
  }
}

provider "restapi" {
  uri                  = "{{.URL}}"
  bearer_token         = "{{.Token}}"
  id_attribute         = "id"
  write_returns_object = true
}

resource "restapi_object" "payout" {
  for_each                  = { for row in csvdecode(file("rows.csv")) : row.id => row }
  path                      = "/v2/transfer/internal"
  ignore_all_server_changes = true
  data = jsonencode({
    ref_id          = "payout-${each.key}"
    from_profile_id = "{{.Treasury}}"
    to_profile_id   = each.value.profile_id
    amount          = each.value.amount
    asset           = "USD"
    metadata = {
      id   = each.key
      team = each.value.team
    }
  })
}
