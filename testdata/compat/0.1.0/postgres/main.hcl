remit {
  environment = "compat"
}

service {
  base_url      = "https://bank.example"
  token_url     = "https://bank.example/oauth2/token"
  client_id     = "finance"
  client_secret = var.client_secret
  lookup_path   = "/v2/transfers"
  ca_file       = "bank.pem"
}

variable "client_secret" {
  type      = string
  sensitive = true
}

profile "treasury" { profile_id = "treasury" }
profile "landlord" {
  profile_id  = "landlord"
  description = "of the office"
}

approval {
  allowed_signers = "allowed_signers"

  rule {
    above     = { USD = "500" }
    approvers = 1
  }
}

batch "october" {
  duplicate_within = "0"
}

batch "november" {
  duplicate_within = "0"
  control {
    count  = 3
    totals = { USD = "1500.50" }
  }
}

data "csv" "october" {
  file = "october.csv"
  key  = "employee"
}

data "csv" "november" {
  file = "november.csv"
  key  = "employee"
}

transfer "internal" "october" {
  for_each      = data.csv.october.rows
  batch         = batch.october
  ref_id        = "oct-${each.key}"
  from          = profile.treasury
  to_profile_id = each.value.profile_id
  amount        = each.value.net
  asset         = "USD"
  metadata      = { employee = each.key }
}

transfer "internal" "november" {
  for_each      = data.csv.november.rows
  batch         = batch.november
  ref_id        = "nov-${each.key}"
  from          = profile.treasury
  to_profile_id = each.value.profile_id
  amount        = each.value.net
  asset         = "USD"
  metadata      = { employee = each.key }
}

transfer "internal" "rent" {
  for_each         = toset(["2026-08", "2026-09", "2026-10"])
  ref_id           = "rent-${each.key}"
  from             = profile.treasury
  to               = profile.landlord
  amount           = "200.00"
  asset            = "USD"
  duplicate_within = "0"
}

schedule "dues" {
  rrule    = "FREQ=MONTHLY;COUNT=3"
  start    = "2026-10-15"
  timezone = "Europe/Berlin"
  time     = "10:00"
}

transfer "internal" "dues" {
  for_each         = schedule.dues.occurrences
  ref_id           = "dues-${each.key}"
  from             = profile.treasury
  to_profile_id    = "club"
  amount           = "15.00"
  asset            = "EUR"
  not_before       = each.value.due_at
  duplicate_within = "0"
}

transfer "platform" "failing" {
  from               = profile.treasury
  to_profile_id      = "broker"
  amount             = "0.015"
  asset              = "BTC"
  recipient_metadata = { contract = "R-17" }
}

transfer "internal" "slow" {
  from          = profile.treasury
  to_profile_id = "slow"
  amount        = "7.00"
  asset         = "USD"
}

transfer "platform" "old" {
  from          = profile.treasury
  to_profile_id = "agent"
  amount        = "70.00"
  asset         = "USD"
}

transfer "platform" "unmade" {
  from          = profile.treasury
  to_profile_id = "agent"
  amount        = "31.00"
  asset         = "USD"
}

transfer "platform" "fee" {
  from          = profile.treasury
  to_profile_id = "broker"
  amount        = "12.30"
  asset         = "USD"
}

transfer "platform" "twin" {
  from          = profile.treasury
  to_profile_id = "agent"
  amount        = "70.00"
  asset         = "USD"
}

transfer "internal" "later" {
  from          = profile.treasury
  to_profile_id = "agent"
  amount        = "1.00"
  asset         = "USD"
  not_before    = "2027-01-04T09:00:00Z"
  expires       = "2027-01-08T09:00:00Z"
}
