transfer "platform" "rent" {
  from_profile_id = "treasury"
  to_profile_id   = "landlord"
  amount          = "8200.00"
  asset           = "USD"
}
