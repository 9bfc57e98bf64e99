# When money moves between the accounts.

calendar "new_york" {
  holidays = ["fed"]
}

schedule "fridays" {
  description = "the sweep of the week"
  rrule       = "FREQ=WEEKLY;BYDAY=FR"
  start       = "2026-11-06"
  until       = "2026-11-27"
  timezone    = "America/New_York"
  time        = "16:00"
  calendar    = calendar.new_york
  convention  = "preceding"
  catch_up    = "3d"
}

schedule "mondays" {
  description = "the floats of the week"
  rrule       = "FREQ=WEEKLY;BYDAY=MO"
  start       = "2026-11-09"
  until       = "2026-11-30"
  timezone    = "America/New_York"
  time        = "09:00"
  calendar    = calendar.new_york
  convention  = "following"
  catch_up    = "3d"
}
