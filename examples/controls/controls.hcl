# No salary is above this. Who pays one on purpose types --override-limit=salary.
limit "salary" {
  per        = "transfer"
  asset      = "USD"
  max_amount = "10000.00"
}

# What leaves on a day in New York, however many plans there are.
limit "desk" {
  per        = "day"
  asset      = "USD"
  max_amount = "50000.00"
  timezone   = "America/New_York"
}

# Nobody is paid twice on a day.
limit "once" {
  per       = "destination_day"
  max_count = 1
  timezone  = "America/New_York"
}

policy "employee" {
  condition     = can(regex("^E-[0-9]{3}$", self.metadata.employee))
  error_message = "${self.ref_id} does not say for which employee it is."
}

policy "round-numbers" {
  scope         = "plan"
  condition     = lookup(plan.signals, "amount out of line", 0) == 0
  error_message = "A salary is over ten times the largest so far."
}
