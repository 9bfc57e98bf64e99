# The business days of the banks, and when salaries are due.

variable "period" {
  type        = string
  description = "the month that is paid"

  validation {
    condition     = can(regex("^[0-9]{4}-[0-9]{2}$", var.period))
    error_message = "The period is a year and a month, such as 2026-11."
  }
}

calendar "ecb" {
  holidays = ["ecb"]
}

calendar "fed" {
  holidays = ["fed"]
}

window "europe" {
  description = "no payment while the banks of the euro are closed"
  timezone    = "Europe/Berlin"
  calendar    = calendar.ecb
  from        = "07:00"
  to          = "17:00"
}
