run "plans" {
  assert {
    condition     = plan.count > 0
    error_message = "Something is planned."
  }
}
