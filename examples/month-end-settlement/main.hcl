# A desk in New York and one in Frankfurt settle with each other at the end of each month of
# 2027, on days on which both the Federal Reserve and the Eurosystem work.

calendar "new_york" {
  holidays = ["fed"]
}

calendar "frankfurt" {
  holidays = ["ecb"]
  dates    = ["2027-12-31"] # the books of the year are closed
}

calendar "both" {
  calendars = [calendar.new_york, calendar.frankfurt]
}

schedule "month_end" {
  description = "Month ends on which New York and Frankfurt work"
  rrule       = "FREQ=MONTHLY;BYMONTHDAY=-1"
  start       = "2027-01-31"
  until       = "2027-12-31"
  timezone    = "America/New_York"
  time        = "10:00"
  calendar    = calendar.both
  convention  = "modified_following"
}

window "settlement" {
  description = "From ten in New York until the books of Frankfurt close"
  timezone    = "Europe/Berlin"
  calendar    = calendar.both
  from        = "14:00"
  to          = "18:00"

  cut_off {
    days = ["friday"]
    at   = "17:00"
  }
}

profile "new_york" {
  profile_id = "0acfa5a6-6f2e-41af-a833-48e301197ffd"
}

profile "frankfurt" {
  profile_id = "37867177-f88c-45cc-b9b5-d786e7079609"
}

profile "fees" {
  profile_id = "fd51a06f-31aa-5402-9245-363ab611c818"
}

# What was agreed for each month. A month without a sum is not settled.
data "csv" "settlements" {
  file = "settlements.csv"
  key  = "month_end"
}

batch "settlement" {
  description = "What the desks owe each other"
  window      = window.settlement
}

transfer "internal" "settlement" {
  for_each   = schedule.month_end.occurrences
  batch      = batch.settlement
  ref_id     = "settlement-${each.key}"
  from       = data.csv.settlements.rows[each.key].from == "frankfurt" ? profile.frankfurt : profile.new_york
  to         = data.csv.settlements.rows[each.key].from == "frankfurt" ? profile.new_york : profile.frankfurt
  amount     = data.csv.settlements.rows[each.key].amount
  asset      = "USD"
  not_before = each.value.due_at
  metadata   = { value_date = each.value.adjusted_date }
}

# The fee of each settlement is due two hours later.
transfer "internal" "fee" {
  for_each   = schedule.month_end.occurrences
  ref_id     = "settlement-fee-${each.key}"
  from       = profile.new_york
  to         = profile.fees
  amount     = data.csv.settlements.rows[each.key].fee
  asset      = "USD"
  not_before = timeadd(each.value.due_at, "2h")
}
