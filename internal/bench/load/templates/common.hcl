remit {
  environment = "bench"
}

service {
  base_url      = "{{.URL}}"
  token_url     = "{{.URL}}{{.TokenPath}}"
  client_id     = "bench"
  client_secret = "bench"
}

batch "payouts" {}

profile "treasury" {
  profile_id = "{{.Treasury}}"
}
