transfer "platform" "refused" {
  from          = profile.treasury
  to_profile_id = "shop"
  amount        = "4.00"
  asset         = "USD"
}

transfer "platform" "doubt" {
  from          = profile.treasury
  to_profile_id = "shop"
  amount        = "5.00"
  asset         = "USD"
}

transfer "platform" "conflict" {
  from          = profile.treasury
  to_profile_id = "shop"
  amount        = "6.00"
  asset         = "USD"
}

transfer "internal" "cut" {
  for_each      = { one = "8.00", two = "9.00" }
  ref_id        = "cut-${each.key}"
  from          = profile.treasury
  to_profile_id = "shop"
  amount        = each.value
  asset         = "USD"
}
