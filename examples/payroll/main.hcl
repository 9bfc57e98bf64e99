# A monthly payroll: one transfer per row of the file that the HR system exports.
#
#   remit plan --sandbox --chdir=examples/payroll

remit {
  required_version = ">= 0.1.0"
  environment      = "production"
}

service {
  base_url      = "https://api.example.com"
  token_url     = "https://oauth.example.com/oauth2/token"
  client_id     = var.client_id
  client_secret = var.client_secret
  scopes        = ["transfer:write_internal_transfer", "transfer:read_transfer"]
  lookup_path   = "/v2/transfers"

  rate_limit {
    internal = "50/1s"
  }
}

data "csv" "payroll" {
  file = "payroll-${var.period}.csv"
  key  = "employee"
}

batch "payroll" {
  description      = "Net salaries of ${var.period}"
  not_before       = "2026-11-27T09:00:00-05:00"
  duplicate_within = "10d" # monthly and often equal: an older twin is expected
}

profile "treasury" {
  profile_id  = "5a85c2e9-08fe-5c14-9b78-492f6f44c737"
  description = "Operating account"
}

transfer "internal" "payroll" {
  for_each      = data.csv.payroll.rows
  batch         = batch.payroll
  ref_id        = "payroll-${var.period}-${each.key}"
  from          = profile.treasury
  to_profile_id = each.value.profile_id
  amount        = each.value.net
  asset         = "USD"
  display_name  = each.value.name
  metadata = {
    employee   = each.key
    department = each.value.department
  }
}
