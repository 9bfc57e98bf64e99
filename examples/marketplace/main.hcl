# A payout night: each seller's gross less the marketplace's fee, and a bonus pool that is
# split by orders so that the parts sum to the cent.

remit {
  environment = "production"
}

service {
  base_url    = "https://api.example.com"
  token_url   = "https://oauth.example.com/oauth2/token"
  lookup_path = "/v2/transfers"
}

variable "period" {
  type    = string
  default = "2026-w47"
}

variable "bonus_pool" {
  type    = string
  default = "10000.00"
}

locals {
  fee_rate = "0.029"
  # The whole file at once, because a split needs all of its weights.
  bonus = allocate(var.bonus_pool, { for seller, row in data.csv.sellers.rows : seller => row.orders }, 2)
}

data "csv" "sellers" {
  file = "sellers.csv"
  key  = "seller"
}

profile "clearing" {
  profile_id  = "4440f0d8-75ad-5026-b649-08ddbfca3c2c"
  identity_id = "43616824-83f5-5200-9764-e181f926200d"
  account_id  = "66f9d5f7-a622-5673-a4d7-1a2f7316c967"
}

batch "payouts" {
  description = "Gross sales less the fee"
}

batch "bonus" {
  description = "The quarter's bonus pool, by orders"
  depends_on  = [batch.payouts]
}

transfer "platform" "payout" {
  for_each       = data.csv.sellers.rows
  batch          = batch.payouts
  ref_id         = "payout-${var.period}-${each.key}"
  from           = profile.clearing
  to_profile_id  = each.value.profile_id
  to_identity_id = each.value.identity_id
  to_account_id  = each.value.account_id
  amount         = decimal_sub(each.value.gross, decimal_round(decimal_mul(each.value.gross, local.fee_rate), 2, "half_even"))
  asset          = "USD"

  metadata = {
    seller = each.key
    gross  = each.value.gross
  }
  recipient_metadata = {
    statement = "Sales of ${var.period}"
  }
}

transfer "platform" "bonus" {
  for_each       = data.csv.sellers.rows
  batch          = batch.bonus
  ref_id         = "bonus-${var.period}-${each.key}"
  from           = profile.clearing
  to_profile_id  = each.value.profile_id
  to_identity_id = each.value.identity_id
  to_account_id  = each.value.account_id
  amount         = local.bonus[each.key]
  asset          = "USD"

  metadata           = { seller = each.key, pool = var.bonus_pool }
  recipient_metadata = { statement = "Bonus for ${each.value.orders} orders" }
}
