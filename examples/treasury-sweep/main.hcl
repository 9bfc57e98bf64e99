# Evening sweep: fund the hot profile first, then top up every desk from it. Assets with 2,
# 8 and 18 decimals.

remit {
  environment = "production"
}

service {
  base_url    = "https://api.example.com"
  token_url   = "https://oauth.example.com/oauth2/token"
  lookup_path = "/v2/transfers"
}

variable "date" {
  type    = string
  default = "2026-11-20"
}

asset "BTC" {
  scale = 8
}

asset "ETH" {
  scale = 18
}

profile "reserve" {
  profile_id = "be83e928-e219-5e6b-8dfb-dd2cfb6bd52f"
}

profile "hot" {
  profile_id = "9048c3d3-7468-5250-b161-586721a199a2"
}

locals {
  desks = {
    frankfurt = {
      profile_id = "106f2850-af36-5294-bf4a-e788462fc303"
      amounts    = { USD = "182500.00", BTC = "1.25000000", ETH = "14.750000000000000001" }
    }
    london = {
      profile_id = "6bd57bc5-7218-5225-8340-4b94bc8d5434"
      amounts    = { USD = "240000.50", BTC = "2.10500000", ETH = "9.333333333333333333" }
    }
    new_york = {
      profile_id = "9eeff5a7-f9f2-59b3-a21c-bedbdca4c2b3"
      amounts    = { USD = "515250.25", BTC = "3.00000001", ETH = "22.125000000000000000" }
    }
    singapore = {
      profile_id = "257b8b69-3f82-5046-96a9-f2966f6bc63a"
      amounts    = { USD = "98000.00", BTC = "0.50000000", ETH = "4.000000000000000000" }
    }
    tokyo = {
      profile_id = "200c6168-dc0f-512e-8df2-8135a7e3be90"
      amounts    = { USD = "131400.75", BTC = "0.87654321", ETH = "7.100000000000000009" }
    }
  }
  # One leg per desk and asset.
  legs = merge([
    for desk, want in local.desks : {
      for asset, amount in want.amounts : "${desk}-${lower(asset)}" => {
        profile_id = want.profile_id
        asset      = asset
        amount     = amount
      }
    }
  ]...)
  needed = {
    for asset in ["USD", "BTC", "ETH"] :
    asset => decimal_sum([for leg in local.legs : leg.amount if leg.asset == asset])
  }
}

transfer "internal" "funding" {
  for_each = local.needed
  ref_id   = "sweep-${var.date}-funding-${lower(each.key)}"
  from     = profile.reserve
  to       = profile.hot
  amount   = each.value
  asset    = each.key
}

transfer "internal" "desk" {
  for_each         = local.legs
  ref_id           = "sweep-${var.date}-${each.key}"
  from             = profile.hot
  to_profile_id    = each.value.profile_id
  amount           = each.value.amount
  asset            = each.value.asset
  depends_on       = [transfer.internal.funding]
  duplicate_within = "12h" # a desk may well need the same amount every evening

  precondition {
    condition     = decimal_cmp(local.needed["BTC"], "25") <= 0
    error_message = "A sweep moves at most 25 BTC; ask the treasurer."
  }
}
