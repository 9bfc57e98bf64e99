# A payroll under controls: totals from another channel, limits, policies, and an address book
# that the author of the payroll can't write to.
#
#   remit plan --sandbox --chdir=examples/controls
#   remit plan --sandbox --chdir=examples/controls --policy-dir=policies

remit {
  required_version = ">= 0.1.0"
  environment      = "production"
}

service {
  base_url      = "https://api.example.com"
  token_url     = "https://oauth.example.com/oauth2/token"
  client_id     = var.client_id
  client_secret = var.client_secret
  scopes        = ["transfer:write_internal_transfer"]
}

variable "client_id" {
  type = string
}

variable "client_secret" {
  type      = string
  sensitive = true
}

# What the payroll program printed on its last page. On the day they are typed:
# --var=count=6 --var=total=23140.75 --var=hash_total=1034434616.55
variable "count" {
  type    = number
  default = 6
}

variable "total" {
  type    = string
  default = "23140.75"
}

variable "hash_total" {
  type    = string
  default = "1034434616.55"
}

data "csv" "payroll" {
  file = "payroll-${var.period}.csv"
  key  = "employee"
}

batch "payroll" {
  description = "Net salaries of November"

  control {
    count      = var.count
    totals     = { USD = var.total }
    hash_total = var.hash_total
  }
}

profile "treasury" {
  profile_id = "5a85c2e9-08fe-5c14-9b78-492f6f44c737"
}

transfer "internal" "payroll" {
  for_each      = data.csv.payroll.rows
  batch         = batch.payroll
  ref_id        = "payroll-${var.period}-${each.key}"
  from          = profile.treasury
  to_profile_id = each.value.profile_id
  amount        = each.value.net
  asset         = "USD"
  metadata      = { employee = each.key }
}

# The month is a variable: written into the ref_id, it would make each month look like a rename.
variable "period" {
  type    = string
  default = "2026-11"
}
