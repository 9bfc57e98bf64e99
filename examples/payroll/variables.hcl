variable "period" {
  type        = string
  default     = "2026-11"
  description = "The month that is paid, as YYYY-MM"

  validation {
    condition     = can(regex("^[0-9]{4}-(0[1-9]|1[0-2])$", var.period))
    error_message = "The period must be a month such as 2026-11."
  }
}

variable "client_id" {
  type = string
}

variable "client_secret" {
  type      = string
  sensitive = true
}
