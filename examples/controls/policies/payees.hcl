# Kept where only the treasurer can write: who may be paid at all, and how much without a second
# look. REMIT_POLICY_DIR names this directory on the machine that pays.

policy "payees" {
  only_profiles = true
}

limit "treasurer" {
  per        = "plan"
  asset      = "USD"
  max_amount = "30000.00"
}

profile "maja" { profile_id = "37867177-f88c-45cc-b9b5-d786e7079609" }
profile "ade" { profile_id = "fd51a06f-31aa-5402-9245-363ab611c818" }
profile "lena" { profile_id = "0e1b1f4c-5a0f-5b1e-8c53-0d6a1d3f2b11" }
profile "tomas" { profile_id = "6c0d9a6e-1f0b-5d6f-9a3b-7d9a2f1c4e22" }
profile "yuki" { profile_id = "b7a1c3d2-8e4f-5a6b-9c7d-1e2f3a4b5c33" }
