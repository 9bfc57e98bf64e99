# Every Friday each desk gives what it does not need to the concentration account, and every Monday it
# gets its float back. Who they are and when that is, the book says.

remit {
  include = ["../book"]
}

environment "production" {
  protected = true

  service {
    base_url    = "https://api.example.com"
    token_url   = "https://oauth.example.com/oauth2/token"
    lookup_path = "/v2/transfers"
  }
}

environment "staging" {
  service {
    base_url    = "https://api.staging.example.com"
    token_url   = "https://oauth.staging.example.com/oauth2/token"
    lookup_path = "/v2/transfers"
  }
}

data "csv" "desks" {
  file = "desks.csv"
  key  = "desk"
}

locals {
  # One movement for each date and desk.
  sweeps = merge([
    for date, occurrence in schedule.fridays.occurrences : {
      for desk, row in data.csv.desks.rows : "${date}-${desk}" => { desk = desk, amount = row.sweep, due_at = occurrence.due_at }
    }
  ]...)
  floats = merge([
    for date, occurrence in schedule.mondays.occurrences : {
      for desk, row in data.csv.desks.rows : "${date}-${desk}" => { desk = desk, amount = row.float, due_at = occurrence.due_at }
    }
  ]...)
}

transfer "internal" "sweep" {
  for_each         = local.sweeps
  ref_id           = "sweep-${each.key}"
  from             = profile[each.value.desk]
  to               = profile.concentration
  amount           = each.value.amount
  asset            = "USD"
  not_before       = each.value.due_at
  duplicate_within = "5d" # a desk gives the same every week
}

transfer "internal" "float" {
  for_each         = local.floats
  ref_id           = "float-${each.key}"
  from             = profile.concentration
  to               = profile[each.value.desk]
  amount           = each.value.amount
  asset            = "USD"
  not_before       = each.value.due_at
  duplicate_within = "5d"
}
