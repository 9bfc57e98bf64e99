# What the payroll of November is, and what no payroll is:
#
#   remit test --chdir=examples/payroll

run "pays_everyone" {
  assert {
    condition     = plan.count == 118 && plan.totals.USD == "412850.22"
    error_message = "The payroll is 412850.22 USD for 118 people, not ${plan.totals.USD} for ${plan.count}."
  }
}

run "waits_for_payday" {
  now = "2026-11-27T08:59:59-05:00"

  assert {
    condition     = plan.count == 0 && plan.actions.wait.count == 118
    error_message = "Nothing is sent before the morning of the 27th."
  }
}

run "pays_on_payday" {
  command = apply
  now     = "2026-11-27T09:00:00-05:00"

  assert {
    condition     = outcomes.recorded.count == 118 && outcomes.recorded.totals.USD == "412850.22"
    error_message = "All of it is recorded."
  }
}

run "pays_nobody_twice" {
  now = "2026-11-27T09:30:00-05:00"

  assert {
    condition     = plan.count == 0 && plan.actions.none.count == 118
    error_message = "What was paid is not paid again."
  }
}

run "takes_no_other_month" {
  variables {
    period = "2026-13"
  }
  override_data {
    target = data.csv.payroll
    file   = "payroll-2026-11.csv"
  }

  expect_failures = [var.period]
}
