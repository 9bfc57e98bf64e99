# What the controls let pass, and what they stop:
#
#   remit test --chdir=examples/controls

run "pays_six" {
  assert {
    condition     = plan.applicable && plan.count == 6 && plan.hash_total == var.hash_total
    error_message = "The payroll of November does not pass its controls."
  }
}

run "stops_a_file_that_was_cut_off" {
  variables {
    count = 7
  }

  expect_failures = [batch.payroll]
}

run "stops_a_high_salary_and_a_payment_without_an_employee" {
  override_data {
    target = data.csv.payroll
    file   = "fixtures/mistakes.csv"
  }

  expect_failures = [batch.payroll, limit.salary, policy.employee]
}
