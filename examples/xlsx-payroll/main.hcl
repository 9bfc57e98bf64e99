# Payroll out of the workbook that HR sends: titles above the header, formulas for the net
# pay, a row of totals at the end, employee numbers with zeros in front.

variable "period" {
  type    = string
  default = "2026-11"

  validation {
    condition     = can(regex("^[0-9]{4}-[0-9]{2}$", var.period))
    error_message = "A period is a year and a month, such as 2026-11."
  }
}

profile "payroll" {
  profile_id  = "5a85c2e9-2f0f-4b0f-9c3b-6d1b1f6a7c11"
  description = "Payroll account"
}

data "xlsx" "payroll" {
  file      = "payroll-${var.period}.xlsx"
  sheet     = "Net pay"
  key       = "employee"
  range     = "A4:H"
  skip_last = 1
  columns = {
    employee   = "Employee No."
    name       = "Name"
    profile_id = "Profile ID"
    net        = "Net (USD)"
    remark     = "Remark"
  }
  where = row.remark != "on leave"
}

batch "payroll" {
  description      = "Net salaries of ${var.period}"
  not_before       = "2026-11-27T09:00:00-05:00"
  duplicate_within = "10d"
}

transfer "internal" "payroll" {
  for_each      = data.xlsx.payroll.rows
  batch         = batch.payroll
  ref_id        = "payroll-${var.period}-${each.key}"
  from          = profile.payroll
  to_profile_id = each.value.profile_id
  amount        = each.value.net
  asset         = "USD"
  display_name  = each.value.name
  metadata      = { employee = each.key }
}
