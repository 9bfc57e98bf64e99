transfer "platform" "extra" {
  from          = profile.treasury
  to_profile_id = "shop"
  amount        = "11.00"
  asset         = "USD"
}
