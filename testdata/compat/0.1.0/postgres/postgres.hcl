state "postgres" {
  url    = var.database_url
  schema = var.schema
}

variable "database_url" {
  type      = string
  sensitive = true
}

variable "schema" {
  type = string
}
