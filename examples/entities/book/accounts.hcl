# The operating account of each entity. Treasury owns this file.

profile "de" {
  profile_id   = "1b3c2a64-54ad-5a4f-9f7b-2a1d3c0f7a10"
  display_name = "Operating account Germany"
}

profile "fr" {
  profile_id   = "2c4d3b75-65be-5b50-8a8c-3b2e4d1f8b21"
  display_name = "Operating account France"
}

profile "uk" {
  profile_id   = "3d5e4c86-76cf-5c61-9b9d-4c3f5e208c32"
  display_name = "Operating account United Kingdom"
}

profile "us" {
  profile_id   = "4e6f5d97-87d0-5d72-8cae-5d406f319d43"
  display_name = "Operating account United States"
}
