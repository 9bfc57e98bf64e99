# Made by "remit init". It binds this configuration to its state and its service, so that
# nothing is paid again from another copy. Commit it beside the configuration.

lineage     = "22f05577-6f05-48f4-8f64-5511284f1afc"
environment = "compat"

service {
  base_url  = "https://bank.example"
  operator  = "platform"
  client_id = "finance"
}
