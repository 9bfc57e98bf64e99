# The starter configuration of remit. See what an apply would do, then do it where no money
# moves:
#
#   remit plan --sandbox
#   remit apply --sandbox
#
# Then write the environment and the service block, run "remit init" again, which binds the state to
# them as long as nothing was sent, and commit this file together with .remit.lock.hcl.

remit {
  required_version = ">= 0.1.0"
  environment      = "default" # the first line of every output; write "production" where it is
}

# The real service. Secrets stay out of files: REMIT_CLIENT_ID and REMIT_CLIENT_SECRET (or
# REMIT_CLIENT_SECRET_FILE) are read from the environment.
#
# service {
#   base_url    = "https://api.example.com"
#   token_url   = "https://oauth.example.com/oauth2/token"
#   scopes      = ["transfer:write_internal_transfer"]
#   lookup_path = "/v2/transfers" # only where the service can look transfers up by ref_id
# }

# The address book: who pays and who is paid.
profile "treasury" {
  profile_id  = "11111111-1111-4111-8111-111111111111"
  description = "Operating account"
}

profile "landlord" {
  profile_id = "22222222-2222-4222-8222-222222222222"
}

# One transfer. Its label is its ref_id: the name that it has for ever, here, in the state and
# at the service. Editing a transfer after it was sent is an error, never an update.
transfer "platform" "rent-2026-01" {
  from   = profile.treasury
  to     = profile.landlord
  amount = "8200.00" # a quoted decimal
  asset  = "USD"
}

# One transfer for each row of a file. The month is a variable, so that the next one is only another value:
# --var=period=2026-02, or a line of remit.hclvars. If you write the month into ref_id, remit takes the next month for a rename.
#
# variable "period" {
#   type = string # such as "2026-01"
# }
#
# data "csv" "payroll" {
#   file = "payroll.csv"
#   key  = "employee"
# }
#
# transfer "internal" "payroll" {
#   for_each      = data.csv.payroll.rows
#   ref_id        = "payroll-${var.period}-${each.key}"
#   from          = profile.treasury
#   to_profile_id = each.value.profile_id
#   amount        = each.value.net
#   asset         = "USD"
# }
