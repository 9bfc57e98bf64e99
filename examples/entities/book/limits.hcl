# What no payroll of the group exceeds.

limit "salary_eur" {
  per        = "transfer"
  asset      = "EUR"
  max_amount = "15000.00"
}

limit "salary_gbp" {
  per        = "transfer"
  asset      = "GBP"
  max_amount = "14000.00"
}

limit "salary_usd" {
  per        = "transfer"
  asset      = "USD"
  max_amount = "20000.00"
}

policy "payroll" {
  condition     = contains([profile.de.profile_id, profile.fr.profile_id, profile.uk.profile_id, profile.us.profile_id], self.from_profile_id)
  error_message = "Salaries are paid from the operating account of an entity."
}
