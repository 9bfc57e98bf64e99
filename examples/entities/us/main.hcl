# The salaries of the United States. The account, the limits and the calendars come from the book of the group.

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

data "csv" "payroll" {
  file = "payroll-${var.period}.csv"
  key  = "employee"
}

batch "payroll" {
  description      = "Net salaries of the United States, ${var.period}"
  duplicate_within = "10d"

  control {
    count  = 5
    totals = { USD = "31835.90" }
  }
}

transfer "internal" "salary" {
  for_each      = data.csv.payroll.rows
  batch         = batch.payroll
  ref_id        = "us-payroll-${var.period}-${each.key}"
  from          = profile.us
  to_profile_id = each.value.profile_id
  display_name  = each.value.name
  amount        = each.value.net
  asset         = "USD"
}
