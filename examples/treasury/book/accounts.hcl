# The twelve accounts of the group: one that concentrates, and eleven desks.

profile "concentration" {
  profile_id   = "fcca1a64-5d16-5c01-93da-84ab65ba3979"
  display_name = "Concentration account"
}

profile "frankfurt" {
  profile_id   = "51c237b3-c95a-58f4-bc79-ec2b4bc36dd4"
  display_name = "Desk Frankfurt"
}

profile "geneva" {
  profile_id   = "2d45207c-c745-5f3d-b545-f22e7d35abe3"
  display_name = "Desk Geneva"
}

profile "hong_kong" {
  profile_id   = "43b1806a-e7f1-5691-b491-3fe420fa4c99"
  display_name = "Desk Hong Kong"
}

profile "london" {
  profile_id   = "537ebdba-d1b2-5175-8910-9a6872f0d290"
  display_name = "Desk London"
}

profile "new_york" {
  profile_id   = "c8314ee0-ac59-5cb1-a459-bf033add7139"
  display_name = "Desk New York"
}

profile "paris" {
  profile_id   = "f9037cc4-a50b-5173-a295-141789768346"
  display_name = "Desk Paris"
}

profile "san_francisco" {
  profile_id   = "a6227189-ad2c-5061-a080-7d2290eeae66"
  display_name = "Desk San Francisco"
}

profile "singapore" {
  profile_id   = "54135e40-b7f2-5dfb-b99f-3a938c5042da"
  display_name = "Desk Singapore"
}

profile "sydney" {
  profile_id   = "09953134-ca38-5df9-932e-daa7286a3f99"
  display_name = "Desk Sydney"
}

profile "tokyo" {
  profile_id   = "ef73ef36-b7d1-550e-b0da-8cbc5115c352"
  display_name = "Desk Tokyo"
}

profile "toronto" {
  profile_id   = "fd961be2-72e4-59ea-bd05-b97462caea64"
  display_name = "Desk Toronto"
}
