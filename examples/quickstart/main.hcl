# Three transfers, both operations. Nothing here needs more than this file:
#
#   remit apply --sandbox --chdir=examples/quickstart

profile "treasury" {
  profile_id  = "5a85c2e9-08fe-5c14-9b78-492f6f44c737"
  description = "Operating account"
}

profile "payouts" {
  profile_id = "836d7080-8fc8-51f3-b45c-c73b9053b4d5"
}

profile "landlord" {
  profile_id = "fd51a06f-31aa-5402-9245-363ab611c818"
}

# Without for_each the label is the ref_id: the name that the transfer has for ever.
transfer "internal" "fund-payouts-2026-11" {
  from   = profile.treasury
  to     = profile.payouts
  amount = "25000.00"
  asset  = "USD"
}

transfer "internal" "fund-payouts-2026-11-eur" {
  from   = profile.treasury
  to     = profile.payouts
  amount = "7350.40"
  asset  = "EUR"
}

transfer "platform" "rent-2026-11" {
  from               = profile.treasury
  to                 = profile.landlord
  amount             = "8200.00"
  asset              = "USD"
  metadata           = { cost_center = "Facilities" }
  recipient_metadata = { contract = "R-17" }
}
