# What no movement between the accounts exceeds.

limit "movement" {
  per        = "transfer"
  asset      = "USD"
  max_amount = "500000.00"
}

policy "inside" {
  only_profiles = true
}
